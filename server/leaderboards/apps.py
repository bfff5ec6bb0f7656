from importlib import import_module

from django.apps import AppConfig


class LeaderboardsConfig(AppConfig):
    name = "server.leaderboards"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import_module("server.leaderboards.receivers")
