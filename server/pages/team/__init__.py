"""Parts of the pages of teams: the team page, invitations, merges, and the public page."""
