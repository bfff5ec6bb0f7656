"""A Django app in three releases, which drill 35 installs beside the service."""
