"""Services for changes to teams: invitations, members and merges."""
