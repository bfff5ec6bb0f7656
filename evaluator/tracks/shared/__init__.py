"""Code that several tracks use: typed truths, labels, report tables, and the common part of the fast path."""
