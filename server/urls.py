"""Every address of the service; each app brings its own."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from server.accounts.urls import FORM
from server.accounts.views import LogIn

urlpatterns = [
    path("", include("server.runtime.urls")),
    path("", include("server.pages.urls")),
    path("accounts/", include("server.accounts.urls")),
    path("api/v1/", include("server.api.urls")),
    # before the admin's own, which would neither count wrong passwords nor log new ones; who is logged in without being
    # staff must find a form there, not be sent back to where they came from
    path("admin/login/", LogIn.as_view(redirect_authenticated_user=False, **FORM)),
    path("admin/password_change/", RedirectView.as_view(pattern_name="password_change")),
    path("admin/", admin.site.urls),
]

handler400 = "server.pages.views.errors.bad_request"
handler403 = "server.pages.views.errors.forbidden"
handler404 = "server.pages.views.errors.not_found"
handler500 = "server.pages.views.errors.server_error"
