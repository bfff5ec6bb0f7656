"""Code shared by several tracks: typed ground truths, labels, report tables, and the common part of the fast path."""
