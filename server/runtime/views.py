"""Views that show whether the service works.

`/livez` and `/healthz` check this process, `/readyz` checks the services that it needs, and `/status` is a public
summary. `/metrics` returns measurements for Prometheus.
"""

from datetime import timedelta
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from server.accounts.addresses import client_address
from server.maintenance import services as maintenance
from server.pages.formatting.units import time_span
from server.pages.rendering import render_page
from server.runtime import health, measurements
from server.runtime.backlog import scoring_status


@require_safe
def livez(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", content_type="text/plain")


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    parts = health.web()
    return JsonResponse(parts, status=200 if set(parts.values()) == {health.OK} else 503)


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    found = scoring_status()
    delay = time_span(timedelta(seconds=found.seconds))
    context: dict[str, Any] = {"status": found, "delay": delay}
    if found.maintenance:
        context["maintenance"] = maintenance.sentence(found.maintenance, found.now)
    return render_page(request, "home/status.html", context)


@require_safe
@never_cache
def status_json(request: HttpRequest) -> JsonResponse:
    return JsonResponse(scoring_status().as_dict())


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the measurements for Prometheus. Clients that may not read them get 404."""
    if not may_read_metrics(request):
        raise Http404
    return HttpResponse(measurements.text(), content_type=CONTENT_TYPE_LATEST)


def may_read_metrics(request: HttpRequest) -> bool:
    """Return whether the settings allow the client to read measurements, because of its token or its address."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if settings.METRICS_TOKEN and constant_time_compare(given, settings.METRICS_TOKEN):
        return True
    try:
        address = ip_address(client_address(request.META["REMOTE_ADDR"], request.headers.get("X-Forwarded-For", "")))
    except ValueError:
        return False
    return any(address in network for network in settings.METRICS_ADDRESSES)
