"""The report on the page of a submission."""
