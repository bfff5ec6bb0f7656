"""Explanations of detections with compiled kernels."""
