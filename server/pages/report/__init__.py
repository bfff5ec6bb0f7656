"""Code for the report on a submission's page: curves, tables, and results per class."""
