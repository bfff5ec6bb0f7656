"""Kernels that check, measure and compare masks."""
