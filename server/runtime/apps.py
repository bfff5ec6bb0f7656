from importlib import import_module

from django.apps import AppConfig
from django.conf import settings

from server.runtime.environment import refuse_unless_mail_backend


class RuntimeConfig(AppConfig):
    name = "server.runtime"

    def ready(self) -> None:
        import_module("server.runtime.checks")
        # Importing these modules connects their receivers to the signals `swept` and `files_swept` of the sweeper.
        import_module("server.organize.services.kits")
        import_module("server.organize.services.old_files")
        import_module("server.organize.services.publishing")
        # Importing this module connects its receiver to the signal that audited commands send.
        import_module("server.runtime.shared_keys")
        # The settings module cannot check the email backend, because importing the backend may require the settings.
        refuse_unless_mail_backend("EMAIL_BACKEND", settings.EMAIL_BACKEND)
