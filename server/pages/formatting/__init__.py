"""Pure functions that format values as text, HTML, or coordinates for charts."""
