"""Fill the cache of machine code: done at set-up, so that no scoring waits for a compiler."""

from shutil import rmtree

from evaluator.kernels import FOLDER, compile_once
from evaluator.kernels.jit import PLACE

compile_once(lambda stage, fraction: None)
for outdated in (FOLDER / "__pycache__").iterdir():  # machine code of other sources or another processor
    if outdated.is_dir() and outdated != PLACE:
        rmtree(outdated)
