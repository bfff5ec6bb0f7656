"""Fill the cache of machine code at set-up, so that no scoring waits for the compiler."""

from shutil import rmtree

from evaluator.kernels import FOLDER, compile_once
from evaluator.kernels.jit import CACHE_FOLDER

compile_once(lambda stage, fraction: None)
for outdated in (FOLDER / "__pycache__").iterdir():  # Machine code of older sources or another processor.
    if outdated.is_dir() and outdated != CACHE_FOLDER:
        rmtree(outdated)
