"""The few functions that earn their speed: machine code made by numba, each with a readable twin in the tests.

They look at bytes and arrays without bounds checks; whoever calls them keeps to their contracts. ``python -m
evaluator.kernels`` compiles all of them once, at set-up.
"""
