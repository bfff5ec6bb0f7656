"""Parts of a challenge's pages: tabs, main button, file format, commands, and links between splits."""
