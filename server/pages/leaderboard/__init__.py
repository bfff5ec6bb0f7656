"""Code for the leaderboard page: its query string, its entries, and its template context."""
