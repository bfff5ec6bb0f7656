"""The image-level classification track of Open Images."""
