"""Fill the cache of machine code: done at set-up, so that no scoring waits for a compiler."""

from importlib import import_module
from pkgutil import iter_modules
from shutil import rmtree

from evaluator.kernels.cache import FILLED, FOLDER, PLACE

for module in iter_modules([str(FOLDER)]):
    if module.name != "__main__":
        import_module(f"evaluator.kernels.{module.name}")
(PLACE / FILLED).touch()
for outdated in (FOLDER / "__pycache__").iterdir():  # machine code of other sources or another processor
    if outdated.is_dir() and outdated != PLACE:
        rmtree(outdated)
