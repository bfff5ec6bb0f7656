"""Pure functions that format values as text or HTML, or convert them to coordinates for charts."""
