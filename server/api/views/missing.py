"""Every other address below the API's: a problem document, not a page."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView


@extend_schema(exclude=True)
class Missing(APIView):
    authentication_classes = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Before method and media type are looked at: there is nothing here, whatever was asked."""
        raise Http404
