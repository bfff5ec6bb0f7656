"""What `manage.py check --deploy` says about the servers we were told of."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register


@register(Tags.security, deploy=True)
def closed_broker(app_configs: Any, **options: Any) -> list[CheckMessage]:
    """Whoever reaches an open Redis can queue what they like and read what waits."""
    url = urlsplit(settings.REDIS_URL)
    if url.scheme in ("", "unix") or url.password:
        return []
    told = "REDIS_URL names a Redis that anybody may use who reaches it."
    hint = "Give it a password (redis://:PASSWORD@HOST:PORT/NUMBER), or use a unix socket."
    return [Warning(told, hint=hint, id="podium.W001")]
