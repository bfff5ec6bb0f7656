"""The fast path of relationships, which uses kernels. The results equal those of numpy to the last bit."""
