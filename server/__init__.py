"""The Django project: accounts, challenges, submissions, leaderboards, pages and API."""

from server.celery import app as celery_app

__all__ = ["celery_app"]
