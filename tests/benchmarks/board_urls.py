"""The URLs of the service, and of a minimal view that returns 100 fixed rows as JSON, for cost comparisons."""

from django.http import HttpRequest, JsonResponse
from django.urls import path

from server.urls import urlpatterns as of_the_service

ROWS = [
    {"rank": number, "team": f"Team {number}", "score": 1 / (number + 2), "entries": number, "baseline": False}
    for number in range(100)
]


def bare(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"count": len(ROWS), "results": ROWS})


urlpatterns = [path("bare", bare), *of_the_service]
