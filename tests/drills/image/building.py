"""Builds an image without a container engine, by running the instructions of a Dockerfile in a folder with chroot.

The base image is replaced by a Debian of the same release with its own Python, which debootstrap installs.
"""

import fnmatch
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.drills.image.dockerfile import Instruction, Stage, read_stages

RELEASE = "bookworm"
PACKAGES = "python3,python3-venv,ca-certificates"
# Patterns for environment variables that tell the programs of a build how to reach the package registries.
REGISTRY = ("PIP_*", "npm_*", "NPM_*", "*_proxy", "*_PROXY", "SSL_CERT_*", "NODE_EXTRA_CA_CERTS")
REGISTRY_FILES = ("etc/resolv.conf", "etc/hosts", "etc/pip.conf", "etc/ssl/certs", "root/.npmrc")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(slots=True)
class Image:
    """The file system of a build stage, with the environment, folder and user for later instructions and containers."""

    root: Path
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": PATH})
    folder: str = "/"
    user: str = "root"


def build(dockerfile: Path, context: Path, folder: Path) -> tuple[Image, Stage]:
    """Carry out all stages of a Dockerfile in a folder. Return the image and the instructions of the last stage."""
    base = folder / "base"
    install_base(base)
    images: dict[str, Image] = {}
    for number, stage in enumerate(read_stages(dockerfile)):
        name = stage.name or f"stage-{number}"
        root = folder / name
        run("cp", "-a", "--reflink=auto", str(base), str(root))
        images[name] = Image(root)
        for instruction in stage.instructions:
            carry_out(instruction, images[name], images, context)
    return images[name], stage


def install_base(root: Path) -> None:
    run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", RELEASE, str(root))
    # In the base image that the Dockerfile names, Python is /usr/local/bin/python.
    (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")


def carry_out(instruction: Instruction, image: Image, images: dict[str, Image], context: Path) -> None:
    match instruction.name:
        case "RUN":
            run_inside(image, instruction.rest)
        case "COPY":
            copy(instruction.words, image, images, context)
        case "WORKDIR":
            image.folder = instruction.rest
            (image.root / image.folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
        case "ENV":
            for word in instruction.words:
                name, _, value = word.partition("=")
                image.environment[name] = value.replace("$PATH", image.environment["PATH"])
        case "USER":
            image.user = instruction.rest


def copy(words: list[str], image: Image, images: dict[str, Image], context: Path) -> None:
    """Carry out COPY for one folder, from the build context or, with --from, from an earlier build stage."""
    *options, source, target = words
    stage = next((one.removeprefix("--from=") for one in options), "")
    start = images[stage].root / source.lstrip("/") if stage else context / source
    end = image.root / Path(image.folder, target).as_posix().lstrip("/")
    ignored = [] if stage else (context / ".dockerignore").read_text().split()

    def left_out(folder: str, names: list[str]) -> set[str]:
        here = Path(folder).relative_to(start)
        return {name for name in names if is_ignored(here / name, ignored)}

    shutil.copytree(start, end, symlinks=True, ignore=left_out, dirs_exist_ok=True)


def is_ignored(path: Path, patterns: list[str]) -> bool:
    anywhere = {one.removeprefix("**/") for one in patterns if one.startswith("**/")}
    return path.name in anywhere or any(fnmatch.fnmatch(path.as_posix(), one) for one in patterns)


def run_inside(image: Image, command: str) -> None:
    """Run a shell command as root in an image, then kill its child processes and remove its mounts.

    The command can use the machine's settings for package registries. They do not become part of the image.
    """
    kept = registry_settings()
    mounts = ["mount -t proc proc proc", "mount --rbind /dev dev", "mount -t tmpfs tmpfs tmp"]
    for name in REGISTRY_FILES:
        if Path("/", name).exists() and not (image.root / name).is_symlink():
            place = image.root / name
            if Path("/", name).is_file():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch()
            mounts.append(f"mount --bind -o ro /{name} {name}")
    script = " && ".join([*mounts, f'exec chroot . env -C {image.folder} /bin/sh -c "$1"'])
    words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh", command]
    run(*words, cwd=image.root, env={**kept, "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive", **image.environment})


def registry_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if any(fnmatch.fnmatch(name, one) for one in REGISTRY)}


def run(*words: str, **options: object) -> None:
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{' '.join(words)} exits with {done.returncode}:\n{done.stdout[-4000:]}"
