"""Instance segmentation by masks (Open Images)."""
