"""Services for organizers: import bundles, add truths, rescore phases."""
