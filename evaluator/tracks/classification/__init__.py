"""The track of image-level classification of Open Images."""
