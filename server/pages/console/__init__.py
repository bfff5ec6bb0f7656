"""Code for the pages on which organizers manage a phase."""
