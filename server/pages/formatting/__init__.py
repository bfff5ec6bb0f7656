"""Pure functions that turn values into text, HTML or coordinates."""
