from django.apps import AppConfig


class LeaderboardsConfig(AppConfig):
    name = "server.leaderboards"
