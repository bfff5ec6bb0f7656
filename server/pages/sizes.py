"""Amounts of bytes in words."""

UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def in_words(amount: int) -> str:
    """Return an amount of bytes with a binary unit, without needless decimals.

    >>> [in_words(amount) for amount in (0, 1536, 2 * 2**30)]
    ['0 B', '1.5 KiB', '2 GiB']
    """
    power = min(len(UNITS) - 1, max(0, (amount.bit_length() - 1) // 10))
    number = f"{amount / 1024**power:.1f}".removesuffix(".0")
    return f"{number} {UNITS[power]}"
