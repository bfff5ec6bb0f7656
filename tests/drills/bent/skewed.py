"""A web process in which `time.time` and `datetime.now` are wrong by SKEW_SECONDS."""

import datetime
import os
import sys
import time
from typing import Any

from server.wsgi import application

__all__ = ["application"]

SKEW = float(os.environ["SKEW_SECONDS"])
true_time, TrueDatetime = time.time, datetime.datetime


class CountsTrueDatetime(type):
    """A metaclass that makes `isinstance` return True for all objects of the real class `datetime.datetime`.

    `Skewed` replaces the real class in all modules, but some objects of the real class still exist.
    """

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, TrueDatetime)


class Skewed(TrueDatetime, metaclass=CountsTrueDatetime):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:
        return TrueDatetime.now(tz) + datetime.timedelta(seconds=SKEW)


time.time = lambda: true_time() + SKEW
for module in list(sys.modules.values()):
    for name, value in list(vars(module).items()):
        if value is TrueDatetime and module is not sys.modules[__name__]:
            setattr(module, name, Skewed)
