"""Leaderboards: what may be asked, and a line."""

from typing import Any

from rest_framework import serializers

from server.api.serializers.fields import Moment
from server.submissions.feedback import SPLITS


class BoardQuery(serializers.Serializer[Any]):
    split = serializers.ChoiceField(choices=SPLITS, default="public")
    at = Moment(default=None, help_text="only what was received until then; ISO 8601, UTC where no zone is given")


class RowSerializer(serializers.Serializer[Any]):
    rank = serializers.IntegerField(allow_null=True, help_text="null: a baseline")
    team = serializers.CharField()
    score = serializers.FloatField()
    interval = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, min_length=2, max_length=2, help_text="95 %; null: none yet"
    )
    scores = serializers.DictField(child=serializers.FloatField(allow_null=True))
    entries = serializers.IntegerField(help_text="scored submissions of the team")
    submitted_at = serializers.DateTimeField()
    baseline = serializers.BooleanField()
    tied = serializers.BooleanField(
        allow_null=True, help_text="a paired test cannot tell it from the next team above; null: not compared"
    )


class BoardSerializer(serializers.Serializer[Any]):
    """A page of a board; `me` is the asker's team, wherever it stands."""

    split = serializers.ChoiceField(choices=SPLITS)
    signature = serializers.CharField()
    at = serializers.DateTimeField()
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    me = RowSerializer(allow_null=True)
    results = RowSerializer(many=True)
