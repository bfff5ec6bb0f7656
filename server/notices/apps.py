"""The configuration of the Django app for notices.

After each run of the sweeper (a periodic task), the app creates notices and wakes the process that sends emails.
"""

from importlib import import_module
from typing import Any

from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "server.notices"

    def ready(self) -> None:
        signals = import_module("server.submissions.signals")
        signals.swept.connect(self.follow_sweep)

    def follow_sweep(self, **signal: Any) -> None:
        import_module("server.notices.services.deriving").derive()
        import_module("server.notices.services.mails").wake()
