"""The fast path of detection, which uses kernels. Its results are bit-identical to those computed with numpy."""
