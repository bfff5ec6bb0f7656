"""A Django app for drill 35, a test of upgrades. It simulates three successive releases of the service."""
