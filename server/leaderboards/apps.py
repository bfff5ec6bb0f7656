from importlib import import_module

from django.apps import AppConfig


class LeaderboardsConfig(AppConfig):
    name = "server.leaderboards"

    def ready(self) -> None:
        import_module("server.leaderboards.receivers")
