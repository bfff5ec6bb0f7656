"""Backups of the whole service. `manage.py backup` writes them, and `manage.py restore` reads them."""
