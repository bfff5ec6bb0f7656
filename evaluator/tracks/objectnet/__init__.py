"""The track of the ObjectNet challenge."""
