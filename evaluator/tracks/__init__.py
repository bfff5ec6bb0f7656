"""One contest each: how its files become numbers."""
