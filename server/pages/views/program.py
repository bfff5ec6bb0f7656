"""Serves the source code of the `podium` program that this server runs, as an archive that pip can install."""

from functools import cache
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from django.conf import settings
from django.http import FileResponse, HttpRequest
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

TOP_FILES = ("pyproject.toml", "README.md")
CACHE_SECONDS = 3600


@require_safe
@cache_control(public=True, max_age=CACHE_SECONDS)
def program(request: HttpRequest) -> FileResponse:
    """Serve the source code of the `podium` program, so that `pip install URL` can install it."""
    return FileResponse(BytesIO(archive()), as_attachment=True, filename="podium.zip")


@cache
def archive() -> bytes:
    """Return a zip archive with the source code of the `podium` program.

    The timestamps in the archive are constant, so that identical code produces identical archives.
    """
    root = Path(settings.BASE_DIR)
    kinds = ("*.py", "*.html", "*.css")
    sources = sorted(path.relative_to(root) for kind in kinds for path in (root / "evaluator").rglob(kind))
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as target:
        for name in [*map(Path, TOP_FILES), *sources]:
            target.writestr(ZipInfo(f"podium/{name.as_posix()}"), (root / name).read_bytes(), ZIP_DEFLATED)
    return packed.getvalue()
