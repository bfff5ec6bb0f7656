"""Explains detection scores: errors, results by size and attribute, an ablation, and a row for each detection."""
