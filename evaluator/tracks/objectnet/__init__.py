"""The track for the ObjectNet challenge."""
