"""The settings of the service with the app `releases`."""

from server.settings import *  # noqa: F403
from server.settings import INSTALLED_APPS, MIDDLEWARE

INSTALLED_APPS += ["releases"]
MIDDLEWARE += ["releases.middleware.visits"]
