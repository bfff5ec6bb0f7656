"""A Django app in three releases, which drill 35 (a test of upgrades) installs beside the service."""
