"""One file per resource: look up, ask a service, answer in a shape."""
