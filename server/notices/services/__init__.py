"""Services for notices: they create notices about recent events, and send emails."""
