"""The fast path of detection: kernels instead of numpy, with the same result to the last bit."""
