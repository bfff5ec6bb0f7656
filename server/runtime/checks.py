"""A check for `manage.py check --deploy`, which warns if the configured Redis has no password."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register


@register(Tags.security, deploy=True)
def closed_broker(app_configs: Any, **options: Any) -> list[CheckMessage]:
    """Warn about a Redis server without a password, because anybody who can reach it can read and send messages."""
    url = urlsplit(settings.REDIS_URL)
    if url.scheme in ("", "unix") or url.password:
        return []
    message = "The Redis server in REDIS_URL has no password, so anyone who can connect to it can use it."
    hint = "Give it a password (redis://:PASSWORD@HOST:PORT/NUMBER), or use a unix socket."
    return [Warning(message, hint=hint, id="podium.W001")]
