"""Two demo challenges: their bundles, invented teams, and the files that these teams submit."""
