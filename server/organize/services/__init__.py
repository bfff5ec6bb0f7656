"""Services for organizers: importing bundles, adding ground truths, rescoring phases, and others."""
