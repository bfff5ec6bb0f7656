"""Parts of a submission's page, and the comparison of two submissions."""
