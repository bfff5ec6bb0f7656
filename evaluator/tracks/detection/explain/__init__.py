"""Explains detection scores with tables of errors, slices and an ablation, and with a row for each detection."""
