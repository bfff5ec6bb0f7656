"""The views: one file for each page or pair of pages."""
