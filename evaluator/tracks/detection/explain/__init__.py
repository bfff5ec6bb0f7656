"""Explains detection scores: errors, results by size and attribute, rule ablations, and a row for each detection."""
