"""What organizers do: read a bundle, import it with its truths and baselines."""
