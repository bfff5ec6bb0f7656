"""Explanations of a detection score: error kinds, slices, ablation, and the fate of every box."""
