"""Strict validation of API input: unknown fields and values of the wrong type are rejected.

Otherwise, a misspelled field would be ignored, and the meaning of `"final": "no"` would have to be guessed.
"""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request


class StrictInput(serializers.Serializer[Any]):
    """A serializer for a request body that rejects unknown fields."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, dict) else []
        if unknown:
            known = ", ".join(self.fields) or "none"
            raise serializers.ValidationError({str(unknown[0]): f"There is no such field. Known fields: {known}."})
        return super().to_internal_value(data)


class StrictText(serializers.CharField):
    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class StrictBoolean(serializers.BooleanField):
    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class StrictInteger(serializers.IntegerField):
    def to_internal_value(self, data: Any) -> int:
        if type(data) is not int and not (isinstance(data, float) and data.is_integer()):
            # The number 1.0 is accepted, because JSON Schema treats it as an integer.
            self.fail("invalid")
        return int(data)


def validated(kind: type[StrictInput], request: Request) -> dict[str, Any]:
    """Return the validated fields of a request body. Raises ValidationError if the body is not valid."""
    given = kind(data=request.data)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)
