"""Code for the team pages: the page for members, the page of an invitation, and a team's public page."""
