"""Parses a Dockerfile into stages and their instructions."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

# Dockerfile instructions that only describe the image and change nothing while it is built.
DESCRIBING = frozenset({"VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT"})
CHANGING = frozenset({"RUN", "COPY", "WORKDIR", "ENV", "USER"})


@dataclass(frozen=True, slots=True)
class Instruction:
    name: str
    rest: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.rest)


@dataclass(frozen=True, slots=True)
class Stage:
    base: str
    name: str
    instructions: tuple[Instruction, ...]

    def last(self, name: str) -> str:
        """Return the arguments of the last instruction with this name."""
        return [one.rest for one in self.instructions if one.name == name][-1]


def read_stages(path: Path) -> list[Stage]:
    """Return the stages of a Dockerfile. Raises ValueError for an instruction that the drill cannot carry out."""
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    found: list[tuple[str, str, list[Instruction]]] = []
    for line in filter(None, map(str.strip, joined.splitlines())):
        name, _, rest = line.partition(" ")
        if name == "FROM":
            base, _, title = rest.partition(" AS ")
            found.append((base, title, []))
        elif name in DESCRIBING | CHANGING:
            found[-1][2].append(Instruction(name, rest.strip()))
        else:
            raise ValueError(f"unknown instruction: {line}")
    return [Stage(base, name, tuple(instructions)) for base, name, instructions in found]
