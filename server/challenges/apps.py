from django.apps import AppConfig


class ChallengesConfig(AppConfig):
    name = "server.challenges"
    default_auto_field = "django.db.models.BigAutoField"
