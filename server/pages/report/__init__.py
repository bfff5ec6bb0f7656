"""The report on a submission's page."""
