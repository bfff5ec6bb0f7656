"""`manage.py verify_audit`: exit 0 where the audit log holds together, 1 with every fault listed."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from server.audit.models import Entry
from server.audit.services import faults


class Command(BaseCommand):
    help = "Check that no entry of the audit log was changed, removed or cut off."

    def handle(self, *args: Any, **options: Any) -> None:
        found = list(faults())
        if found:
            raise CommandError("\n".join(found))
        self.stdout.write(f"{Entry.objects.count()} entries, all in place")
