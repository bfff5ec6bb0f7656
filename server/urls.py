"""Every address of the service; each app brings its own."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("server.runtime.urls")),
    path("", include("server.pages.urls")),
    path("accounts/", include("server.accounts.urls")),
    path("api/v1/", include("server.api.urls")),
    path("admin/", admin.site.urls),
]

handler400 = "server.pages.views.errors.bad_request"
handler403 = "server.pages.views.errors.forbidden"
handler404 = "server.pages.views.errors.not_found"
handler500 = "server.pages.views.errors.server_error"
