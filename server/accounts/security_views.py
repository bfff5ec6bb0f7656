"""The pages for a user's profile and for account security: two-factor authentication and signed-in devices."""

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from server.accounts import devices
from server.accounts.forms import ProfileForm
from server.accounts.requests import FORM_METHODS, PersonRequest
from server.accounts.two_factor import Type


@never_cache
@require_http_methods(FORM_METHODS)
@login_required
def profile(request: PersonRequest) -> HttpResponse:
    """Show the form for the profile of the logged-in user. A POST request saves the profile."""
    form = ProfileForm(request.POST if request.method == "POST" else None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Your profile was saved.")
        return redirect("account_profile")
    return render(request, "account/profile.html", {"form": form}, status=422 if form.errors else 200)


@never_cache
@require_safe
@login_required
def security(request: PersonRequest) -> HttpResponse:
    """Show whether two-factor authentication is on, and the devices where the user is logged in."""
    authenticators = {one.type: one for one in Authenticator.objects.filter(user=request.user)}
    codes = authenticators.get(Type.RECOVERY_CODES)
    context = {
        "totp": authenticators.get(Type.TOTP),
        "codes_left": len(codes.wrap().get_unused_codes()) if codes else 0,
        "devices": devices.signed_in(request.user, request.session.session_key or ""),
    }
    return render(request, "account/security.html", context)


@require_POST
@login_required
def device_sign_out(request: PersonRequest, pk: int) -> HttpResponse:
    """Log the user out on one device other than the current one."""
    session = UserSession.objects.filter(pk=pk, user=request.user).first()
    if session is None:
        raise Http404
    if session.session_key == request.session.session_key:
        messages.error(request, "This is the device that you are using. To log out here, use “Log out” in the menu.")
        return redirect("mfa_index")
    devices.sign_out(request.user, [session])
    messages.success(request, "You have been logged out on that device.")
    return redirect("mfa_index")


@require_POST
@login_required
def devices_sign_out(request: PersonRequest) -> HttpResponse:
    """Log the user out on all devices other than the current one."""
    others = UserSession.objects.filter(user=request.user).exclude(session_key=request.session.session_key)
    devices.sign_out(request.user, list(others))
    messages.success(request, "You have been logged out on all other devices.")
    return redirect("mfa_index")
