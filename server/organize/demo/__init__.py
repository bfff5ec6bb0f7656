"""Creates two demo challenges: their bundles, fictional teams, and the files that these teams submit."""
