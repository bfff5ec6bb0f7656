"""Code for parts of a challenge's pages: tabs, main button, file format, shell commands, and links between splits."""
