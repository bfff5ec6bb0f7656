"""Two demo challenges: their bundles, fictional teams, and the files that these teams submit."""
