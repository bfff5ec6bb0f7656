"""The pages for a user's notices and email settings, and for the announcements of a challenge."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.errors import Refused
from server.notices.models import Kind, MailChoice, Notice
from server.notices.services import announcing, deriving, mails
from server.pages.challenge_context import ChallengeContext, find_context
from server.pages.forms import AnnouncementForm
from server.pages.rendering import render_page

PER_PAGE = 50


@never_cache
@require_safe
@login_required
def inbox(request: PersonRequest) -> HttpResponse:
    """Show the notices of the logged-in user, newest first, and the email settings."""
    own = Notice.objects.filter(user=request.user).select_related("event__challenge")
    chosen = set(MailChoice.objects.filter(user=request.user).values_list("kind", flat=True))
    context = {
        "notices": Paginator(own, PER_PAGE).get_page(request.GET.get("page")),
        "kinds": [(kind, kind.label, kind.value in chosen) for kind in Kind],
        "address": mails.address_of(request.user),
    }
    return render_page(request, "account/inbox.html", context)


@require_POST
@login_required
def mark_read(request: PersonRequest) -> HttpResponse:
    deriving.mark_read(request.user)
    return redirect("inbox")


@require_POST
@login_required
def choose_mails(request: PersonRequest) -> HttpResponse:
    """Save the kinds of notices that the user wants to receive by email."""
    mails.choose(request.user, {Kind(one) for one in request.POST.getlist("kind") if one in Kind.values})
    messages.success(request, "Your email settings were saved.")
    return redirect("inbox")


# To unsubscribe a user, email programs send a POST request without cookies, so there is no CSRF token. The signed token
# in the URL authorizes the request (RFC 8058).
@csrf_exempt
@never_cache
@require_http_methods(FORM_METHODS)
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """Unsubscribe a user from a kind of email. The signed token in the URL identifies the user and the kind of email.

    A GET request only shows a button, because virus scanners open the links in emails.
    """
    kind = mails.unsubscribe(token) if request.method == "POST" else mails.kind_of(token)
    if kind is None:
        raise Http404
    return render_page(request, "account/unsubscribe.html", {"kind": kind, "done": request.method == "POST"})


@require_http_methods(FORM_METHODS)
def announcements(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the announcements of a challenge. Organizers also see a form for writing an announcement."""
    current = find_context(request, slug)
    if request.method != "POST":
        return show_announcements(request, current, AnnouncementForm())
    announcing.refuse_others(current.challenge, request.user)
    form = AnnouncementForm(request.POST)
    if "preview" in request.POST:
        return show_announcements(request, current, AnnouncementForm(initial=request.POST.dict()))
    if not form.is_valid():
        return show_announcements(request, current, form, Refused("invalid", "Fix the problems below."))
    try:
        announcing.announce(challenge=current.challenge, by=request.user, **form.cleaned_data)
    except Refused as refusal:
        return show_announcements(request, current, form, refusal)
    messages.success(request, "The announcement was published. Everyone who takes part gets a notice.")
    return redirect(current.url("announcements"))


def show_announcements(
    request: HttpRequest, current: ChallengeContext, form: AnnouncementForm, refusal: Refused | None = None
) -> HttpResponse:
    context = {
        "current": current,
        "now": current.now,
        "announcements": current.challenge.announcements.all(),
        "form": form if current.may_edit else None,
        "preview": form["text"].value() or "",
        "refusal": refusal,
    }
    return render_page(request, "challenge/announcements.html", context)
