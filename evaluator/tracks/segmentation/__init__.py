"""The instance segmentation track of Open Images."""
