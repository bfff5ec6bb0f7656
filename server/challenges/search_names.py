"""The normalized form of team names that searches compare."""

from typing import Any

from django.db import models

from server.accounts.names import same_name


def searchable(text: str) -> str:
    """Return a name in the form that searches compare. It ignores letter case, character width and extra spaces.

    >>> searchable("  STRASSE \u03a3 ") == searchable("Stra\u00dfe  \u03c2")
    True
    """
    return same_name(" ".join(text.split()))


class SearchName(models.TextField):
    """A model field with the team name as returned by `searchable`. It is set whenever the row is saved.

    SQLite ignores letter case only in ASCII, and PostgreSQL compares by its locale, so neither database can do this
    comparison in a query.
    """

    def pre_save(self, model_instance: Any, add: bool) -> str:
        setattr(model_instance, self.attname, searchable(model_instance.name))
        return str(super().pre_save(model_instance, add))
