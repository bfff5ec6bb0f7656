"""The organizer pages of a phase."""
