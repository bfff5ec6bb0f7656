"""The storage backend for static files: scripts, style sheets, fonts and icons."""

from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage  # type: ignore[import-untyped]


class StaticFiles(CompressedManifestStaticFilesStorage):
    """A storage backend that computes the URL of each file only once per process.

    Caching the URLs saves time, because every page contains more than ten of them.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.urls: dict[tuple[str, bool], str] = {}

    def url(self, name: str, force: bool = False) -> str:
        key = (name, force)
        if key not in self.urls:
            self.urls[key] = super().url(name, force)
        return self.urls[key]
