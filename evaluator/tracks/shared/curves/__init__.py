"""Sorts the entries of precision/recall curves, and converts the curves to rows of a report."""
