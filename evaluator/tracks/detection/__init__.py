"""The object detection track of Open Images."""
