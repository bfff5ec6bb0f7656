from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    name = "server.submissions"
    default_auto_field = "django.db.models.BigAutoField"
