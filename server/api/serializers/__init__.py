"""The shapes that go in and out, one file per resource."""
