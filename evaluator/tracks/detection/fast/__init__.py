"""The fast path of the detection track, which uses compiled kernels.

Its results are bit-identical to those computed with numpy.
"""
