"""Files for search engines: robots.txt, and a site map of the public challenges."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from server.challenges.models import Challenge

# Search engines must not crawl personal pages, forms, or pages whose query strings can vary without limit.
NOT_FOR_ROBOTS = ("/accounts/", "/admin/", "/api/", "/submissions/", "/challenges/*/submit", "/*?")
PAGES_OF_CHALLENGE = ("challenge", "challenge_data", "challenge_rules", "leaderboard")


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    rules = "".join(f"Disallow: {path}\n" for path in NOT_FOR_ROBOTS)
    text = f"User-agent: *\n{rules}Sitemap: {settings.PODIUM_URL}{reverse('sitemap')}\n"
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@require_safe
def sitemap(request: HttpRequest) -> HttpResponse:
    """Return a site map with the front page and the pages of all public challenges."""
    public = Challenge.objects.filter(visibility=Challenge.Visibility.PUBLIC).order_by("slug")
    slugs = public.values_list("slug", flat=True)
    paths = [reverse("home"), *(reverse(name, args=[slug]) for slug in slugs for name in PAGES_OF_CHALLENGE)]
    addresses = [f"{settings.PODIUM_URL}{path}" for path in paths]
    return render(request, "home/sitemap.xml", {"addresses": addresses}, content_type="application/xml")
