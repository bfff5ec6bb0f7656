"""The leaderboard page: its query string, its entries, and the context of its template."""
