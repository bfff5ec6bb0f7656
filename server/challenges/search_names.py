"""The normalized form of team names that is used for searching."""

from typing import Any

from django.db import models

from server.accounts.names import same_name


def searchable(text: str) -> str:
    """Return a team name in the normalized form that is used for searching.

    The normalized form does not depend on letter case, character width or extra spaces.

    >>> searchable("  STRASSE \u03a3 ") == searchable("Stra\u00dfe  \u03c2")
    True
    """
    return same_name(" ".join(text.split()))


class SearchName(models.TextField):
    """A model field with the normalized team name that `searchable` returns. It is set whenever the team is saved.

    Names are normalized in Python because databases cannot do it in a query: SQLite ignores letter case only for ASCII
    letters, and the result on PostgreSQL depends on the locale.
    """

    def pre_save(self, model_instance: Any, add: bool) -> str:
        setattr(model_instance, self.attname, searchable(model_instance.name))
        return str(super().pre_save(model_instance, add))
