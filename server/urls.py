"""URLs of the service. Each app defines its own URLs below these."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from server.runtime.views import livez, metrics, readyz, status, status_json

urlpatterns = [
    path("livez", livez, name="livez"),
    path("healthz", livez, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("status", status, name="status"),
    path("status.json", status_json, name="status_json"),
    # The API is listed before the pages, so that API requests are not compared with the paths of all pages first.
    path("api/v1/", include("server.api.urls")),
    path("", include("server.pages.urls")),
    path("accounts/", include("server.accounts.urls")),
    # These URLs replace the admin's own pages, which neither count failed logins nor log password changes.
    path("admin/login/", secure_admin_login(RedirectView.as_view(pattern_name="admin:index"))),
    path("admin/password_change/", RedirectView.as_view(pattern_name="account_change_password")),
    path("admin/", admin.site.urls),
]

handler400 = "server.pages.views.errors.bad_request"
handler403 = "server.pages.views.errors.forbidden"
handler404 = "server.pages.views.errors.not_found"
handler429 = "server.accounts.views.rate_limited"  # django-allauth calls this view when a rate limit is exceeded.
handler500 = "server.pages.views.errors.server_error"
