"""The ``podium`` command."""


def main() -> int:
    """Run the command line."""
    raise NotImplementedError
