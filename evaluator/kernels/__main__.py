"""Fills the cache of machine code during set-up, so that scoring never waits for the compiler."""

from shutil import rmtree

from evaluator.kernels import FOLDER, compile_once
from evaluator.kernels.jit import CACHE_FOLDER

compile_once(lambda stage, fraction: None)
# Remove machine code that was compiled from older sources or for another processor.
for outdated in (FOLDER / "__pycache__").iterdir():
    if outdated.is_dir() and outdated != CACHE_FOLDER:
        rmtree(outdated)
