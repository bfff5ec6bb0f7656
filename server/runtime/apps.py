from importlib import import_module

from django.apps import AppConfig


class RuntimeConfig(AppConfig):
    name = "server.runtime"

    def ready(self) -> None:
        import_module("server.runtime.checks")
