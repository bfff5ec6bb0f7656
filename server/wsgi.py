"""The WSGI application that gunicorn serves."""

import os
from importlib import import_module
from typing import Any

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.utils.http import parse_header_parameters


class Utf8Request(WSGIRequest):
    """A request that ignores the character set declared in its headers.

    Otherwise, Django would raise an error if the declared character set were a Python codec for bytes, such as zlib.
    """

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))


class Utf8Handler(WSGIHandler):
    request_class = Utf8Request


os.umask(0o077)  # Only the user that runs this process may read the files that it creates, such as uploads.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "server.settings")
django.setup(set_prefix=False)
# Import all views before gunicorn forks the web processes. The processes then share the memory of the imported modules,
# and the first request does not wait for the imports.
import_module(settings.ROOT_URLCONF)
application = Utf8Handler()
