"""Code for the pages where organizers manage a phase."""
