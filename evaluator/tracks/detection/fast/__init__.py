"""The fast path of detection, which uses kernels. The results equal those of numpy to the last bit."""
