"""Kernels of detection."""
