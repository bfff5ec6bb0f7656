"""Parts of the team pages: the page for members, invitations, merges, and the public page."""
