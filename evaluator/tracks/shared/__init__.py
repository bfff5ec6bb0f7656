"""Code that several tracks use: typed truths, labels, tables of a report, and the frame of the fast path."""
