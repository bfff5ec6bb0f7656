"""Visual relationships between two boxes (Open Images)."""
