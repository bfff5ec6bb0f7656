"""Detection of objects by boxes (Open Images)."""
