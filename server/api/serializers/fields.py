"""Serializer fields that several API serializers use."""

from typing import Any

from rest_framework import serializers

from evaluator.dates import in_utc


class NullIfEmpty(serializers.CharField):
    """A string field whose empty value is represented as null in JSON."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_null=True, **options)

    def to_representation(self, value: Any) -> str | None:  # type: ignore[override]
        return str(value) if value else None


class Interval(serializers.ListField):
    """A field for a confidence interval: a list with its two endpoints, or null."""

    def __init__(self, **options: Any) -> None:
        super().__init__(child=serializers.FloatField(), allow_null=True, min_length=2, max_length=2, **options)


class WholeSeconds(serializers.DateTimeField):
    """A field for a time, rounded down to whole seconds.

    Exact times would reveal how long scoring took, which depends on the ground truth.
    """

    def to_representation(self, value: Any) -> Any:
        return super().to_representation(value and value.replace(microsecond=0))


class QueryTime(serializers.DateTimeField):
    """A field for a time in a query string, rounded down to whole seconds.

    With exact times, a client could find out to the millisecond when a score was recorded, and therefore how long
    scoring took; see `WholeSeconds`. A space is read as a plus sign, because a plus sign that is not percent-encoded
    arrives as a space.
    """

    def to_internal_value(self, value: Any) -> Any:
        moment = super().to_internal_value(value.replace(" ", "+") if value.count("T") else value)
        try:
            return in_utc(moment).replace(microsecond=0)
        except ValueError as error:
            raise serializers.ValidationError(f"{error}.") from None
