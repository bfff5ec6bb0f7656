"""Code for parts of a submission's page, the list of submissions, and the comparison of two submissions."""
