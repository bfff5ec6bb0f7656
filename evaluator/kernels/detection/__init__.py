"""Kernels that read and match detections."""
