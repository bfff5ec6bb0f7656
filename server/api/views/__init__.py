"""The views, one file for each resource."""
