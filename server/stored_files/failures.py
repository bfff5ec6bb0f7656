"""The error that is raised if the object store cannot be used. The module imports no third-party packages."""

from errno import EIO


class StoreUnavailable(OSError):
    """Raised if the object store does not respond, refuses a request, or sends an incomplete response."""

    def __init__(self, reason: str) -> None:
        super().__init__(EIO, reason)
