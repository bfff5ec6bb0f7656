"""Services for notices: create them from recent events, and send their emails."""
