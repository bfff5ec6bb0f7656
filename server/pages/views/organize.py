"""The organizer's overview of a challenge, and the import and export of challenges as zip files."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db.models import prefetch_related_objects
from django.http import FileResponse, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluator.bundle import InvalidBundle
from server.accounts.requests import FORM_METHODS, SAFE_METHODS, PersonRequest
from server.challenges.edit_forms import ScheduleForm
from server.challenges.gate import may_open
from server.challenges.roles import Right, refuse_without
from server.errors import Refused
from server.organize.models import Publication
from server.organize.services import bundle_uploads, exporting, publishing
from server.organize.services.consent import Consent
from server.pages.challenge_context import ChallengeContext, find_context
from server.pages.console.kept_warnings import take_warnings
from server.pages.forms import BundleForm
from server.pages.rendering import render_page
from server.submissions.services import admission


@require_http_methods(FORM_METHODS)
# The CSRF check reads the whole request body. It is deferred to `accept_bundle`, so that the server can reject the
# request before reading the uploaded file.
@csrf_exempt
@login_required
def import_challenge(request: PersonRequest) -> HttpResponse:
    """Show the form for uploading a bundle (a challenge as a zip file). A POST request imports the bundle.

    The errors and warnings of the bundle are shown afterwards.
    """
    bundle_uploads.require_may_import(request.user)
    if request.method != "POST":
        return show_import(request, BundleForm())
    admission.take_account_slot(request.user)
    return accept_bundle(request)


@csrf_protect
def accept_bundle(request: PersonRequest) -> HttpResponse:
    form = BundleForm(request.POST, request.FILES)
    if not form.is_valid():
        return show_import(request, form, Refused("invalid", "Fix the problems below and submit again."))
    given = form.cleaned_data
    try:
        imported = bundle_uploads.import_upload(
            path=Path(given["file"].temporary_file_path()),
            name=given["file"].name,
            by=request.user,
            strict=given["strict"],
            consent=Consent(reveal=given["reveal"], force=given["force"]),
        )
    except InvalidBundle as error:
        refusal = Refused("invalid", f"{error}. Nothing was imported. Fix the errors and import the bundle again.")
        return show_import(request, form, refusal, mistakes=error.problems, warnings=error.warnings)
    except Refused as refusal:
        return show_import(request, form, refusal)
    return show_import(request, BundleForm(), imported=imported, warnings=imported.warnings)


@require_safe
@login_required
def overview(request: PersonRequest, slug: str) -> HttpResponse:
    """Show organizers the phases of a challenge with their ground truths, and forms for managing the challenge."""
    return show_overview(request, organized_context(request, slug))


def show_overview(request: PersonRequest, current: ChallengeContext, refusal: Refused | None = None) -> HttpResponse:
    prefetch_related_objects(current.phases, "truths")
    closed = [phase.slug for phase in current.phases if not may_open(phase)]
    scheduled = Publication.objects.filter(challenge=current.challenge).first()
    context = {
        "current": current,
        "now": current.now,
        "secrets": exporting.SECRETS,
        "closed_by_gate": closed,
        "refusal": refusal,
        "warnings": take_warnings(request),
        "may_edit": current.may_edit,
        "may_own": current.may_own,
        # Owners and editors can also export an archived challenge, for which `may_edit` is false.
        "may_export": current.challenge.is_organized_by(request.user, Right.EDIT),
        "may_archive": current.challenge.is_organized_by(request.user, Right.OWN),
        "schedule_form": ScheduleForm(),
        "scheduled": scheduled,
        "obstacle": publishing.obstacle(current.challenge) if scheduled else None,
        "has_joined": current.challenge.memberships.exists(),
    }
    return render_page(request, "organize/overview.html", context)


@require_POST
@login_required
def export(request: PersonRequest, slug: str) -> FileResponse:
    """Serve a challenge as a zip file. The method is POST, because the download is recorded in the audit log."""
    current = organized_context(request, slug, archived=True)
    return exporting.export_response(challenge=current.challenge, by=request.user)


def organized_context(
    request: HttpRequest, slug: str, right: Right | None = None, *, archived: bool = False
) -> ChallengeContext:
    """Return the template context for an organizer page. Raises Refused if the user does not have the given right.

    By default, a GET request requires the right to read, and any other request the right to edit. Rights to change an
    archived challenge are denied, unless `archived` is true.
    """
    current = find_context(request, slug, archived=True)
    if not current.is_organizer:
        raise Refused("forbidden", "Only organizers of the challenge can see this page.")
    if right or request.method not in SAFE_METHODS:
        refuse_without(right or Right.EDIT, by=request.user, challenge=current.challenge, archived=archived)
    return current


def show_import(request: PersonRequest, form: BundleForm, refusal: Refused | None = None, **found: Any) -> HttpResponse:
    context = {"form": form, "refusal": refusal, "max_bytes": settings.UPLOAD_MAX_BYTES, **found}
    return render_page(request, "organize/import.html", context)
