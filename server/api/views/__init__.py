"""The views of the API, with one module for each kind of resource."""
