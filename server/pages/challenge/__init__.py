"""Parts of a challenge's pages: tabs, main button, file format, and entries of the leaderboard."""
