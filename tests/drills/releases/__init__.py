"""A Django app in three releases, which drill 35 (a test of upgrades) installs in addition to those of the service."""
