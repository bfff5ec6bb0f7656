"""Health endpoints: `/healthz` for this process, `/readyz` for the whole service."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from server.runtime import health


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", content_type="text/plain")


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    parts = health.report()
    return JsonResponse(parts, status=200 if set(parts.values()) == {health.OK} else 503)
