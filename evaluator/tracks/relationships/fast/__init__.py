"""The fast path of the relationships track, which uses compiled kernels.

Its results are bit-identical to those computed with numpy.
"""
