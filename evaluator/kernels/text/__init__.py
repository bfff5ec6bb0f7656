"""Text scanning: bytes to cells, numbers and codes of labels."""
