"""What organizers do: import bundles, add truths, rescore phases."""
