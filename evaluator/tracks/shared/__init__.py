"""What several tracks need: labels, tables of a report, the fast path's frame."""
