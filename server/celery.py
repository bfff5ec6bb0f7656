"""The Celery application, with Django's settings and the worker's tasks."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "server.settings")

app = Celery("podium")
app.config_from_object("django.conf:settings", namespace="CELERY")
