"""Serializers of leaderboards."""

from datetime import datetime
from typing import Any

from rest_framework import serializers

from server.api.serializers.fields import QueryTime
from server.submissions.feedback import SPLITS


def time_text(moment: datetime) -> str:
    """Return a time as all serializers write it."""
    return str(serializers.DateTimeField().to_representation(moment))


class BoardQuery(serializers.Serializer[Any]):
    split = serializers.ChoiceField(choices=SPLITS, default="public")
    at = QueryTime(default=None, help_text="as it was shown at this time; ISO 8601, in UTC if no time zone is given")
    all = serializers.BooleanField(
        default=False, help_text="the whole leaderboard as one stream, without `tied`; `csv` always returns all of it"
    )


class RowSerializer(serializers.Serializer[Any]):
    rank = serializers.IntegerField(allow_null=True, help_text="null for a baseline")
    team = serializers.CharField()
    score = serializers.FloatField()
    interval = serializers.ListField(
        child=serializers.FloatField(),
        allow_null=True,
        min_length=2,
        max_length=2,
        help_text="95% confidence interval of the score; null if not computed yet",
    )
    scores = serializers.DictField(child=serializers.FloatField(allow_null=True))
    entries = serializers.IntegerField(help_text="number of scored submissions of the team")
    submitted_at = serializers.DateTimeField()
    baseline = serializers.BooleanField()
    tied = serializers.BooleanField(
        allow_null=True,
        help_text=(
            "whether the entry belongs to the tie group of the team above: the first team of the group, which begins "
            "on the same page, is not significantly better in a paired bootstrap test; null if not tested"
        ),
    )


class BoardSerializer(serializers.Serializer[Any]):
    """A page of a leaderboard. `me` is the entry of your own team, even if it is on another page."""

    split = serializers.ChoiceField(choices=SPLITS)
    signature = serializers.CharField()
    at = serializers.DateTimeField()
    reconstructed = serializers.BooleanField(
        help_text="whether this time is before the history was recorded, so that it was reconstructed from scores"
    )
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    me = RowSerializer(allow_null=True)
    results = RowSerializer(many=True)
