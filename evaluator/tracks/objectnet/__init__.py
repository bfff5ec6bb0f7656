"""The ObjectNet track."""
