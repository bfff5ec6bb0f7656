"""Fields that several resources share."""

from typing import Any

from rest_framework import serializers

from server.clock import in_utc


class NullWhereEmpty(serializers.CharField):
    """A column of text that is empty where there is nothing to say; JSON says null."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_null=True, **options)

    def to_representation(self, value: Any) -> str | None:  # type: ignore[override]
        return str(value) if value else None


class WholeSeconds(serializers.DateTimeField):
    """When something that depends on the hidden truth was done: fractions of a second could tell how long it took."""

    def to_representation(self, value: Any) -> Any:
        return super().to_representation(value and value.replace(microsecond=0))


class Moment(serializers.DateTimeField):
    """A time in an address, where an unescaped plus sign has become a space."""

    def to_internal_value(self, value: Any) -> Any:
        moment = super().to_internal_value(value.replace(" ", "+") if value.count("T") else value)
        try:
            return in_utc(moment)
        except ValueError as error:
            raise serializers.ValidationError(f"{error}.") from None
