"""The pages of a phase for its organizers."""
