"""The fast path of relationships, which uses kernels. Its results are bit-identical to those computed with numpy."""
