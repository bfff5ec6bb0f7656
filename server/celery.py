"""The Celery application: its settings are Django's, its tasks are the worker's."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "server.settings")

app = Celery("podium")
app.config_from_object("django.conf:settings", namespace="CELERY")
