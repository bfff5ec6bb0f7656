"""`manage.py rotate_secret_key`: re-encrypt the two-factor secrets after SECRET_KEY has been changed."""

from typing import Any

from django.core.management.base import CommandError

from server.accounts import two_factor
from server.accounts.audited_command import AuditedCommand
from server.audit.services import record


class Command(AuditedCommand):
    help = (
        "Encrypt the two-factor authentication secrets with the current SECRET_KEY. Before you run this command, "
        "set SECRET_KEY to a new key and SECRET_KEY_FALLBACKS to the previous one, and restart every part of the "
        "service. The exit status is 1 if some secrets cannot be decrypted with either key."
    )

    def handle(self, **options: Any) -> None:
        accounts, unreadable = two_factor.encrypt_again()
        record(actor=self.person, action="secret_key.rotated", subject="service", detail={"accounts": accounts})
        if unreadable:
            raise CommandError(
                f"The secrets of {unreadable} of {accounts} accounts cannot be decrypted. Add the earlier key to "
                "SECRET_KEY_FALLBACKS and run the command again."
            )
        self.stdout.write(
            f"The two-factor secrets of {accounts} accounts are encrypted with the current SECRET_KEY. After 14 days, "
            "when all earlier sessions have ended, remove SECRET_KEY_FALLBACKS."
        )
