"""Code that several tracks use: typed truths, labels, tables of a report, and the common part of the fast path."""
