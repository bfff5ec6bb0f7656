"""Kernels that read and match_detection detections."""
