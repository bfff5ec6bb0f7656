"""Explanations of a detection score: kinds of errors, slices, ablation, and a row for each detection."""
