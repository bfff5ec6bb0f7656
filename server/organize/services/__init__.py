"""Services for organizers: import bundles, add ground truths, rescore phases."""
