"""API serializers for signed results.

The serializers of responses are used only for the schema. A response contains exactly the bytes that were signed.
"""

from typing import Any

from rest_framework import serializers

from server.api.serializers.fields import Interval
from server.submissions.feedback import SPLITS


class ResultsQuery(serializers.Serializer[Any]):
    preliminary = serializers.BooleanField(
        default=False, help_text="also return results that are not final; they are marked as preliminary"
    )


class SigningKeySerializer(serializers.Serializer[Any]):
    algorithm = serializers.CharField(help_text="always `Ed25519` (RFC 8032)")
    public_key = serializers.CharField(help_text="64 hexadecimal digits")
    earlier_keys = serializers.ListField(
        child=serializers.CharField(), help_text="keys that signed earlier results, if the key was replaced"
    )


class ResultTruthSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    sha256 = serializers.CharField()
    usage_hash = serializers.CharField(
        allow_null=True,
        help_text="a keyed hash of the division into public and private images; the key is the secret salt; null if "
        "unknown, or if the ground truth has no salt",
    )


class ResultEntrySerializer(serializers.Serializer[Any]):
    rank = serializers.IntegerField(allow_null=True, help_text="null for a baseline")
    team = serializers.CharField()
    score = serializers.FloatField()
    interval = Interval(help_text="95% confidence interval of the score; null if not computed")
    scores = serializers.DictField(child=serializers.FloatField(allow_null=True))
    entries = serializers.IntegerField(help_text="number of scored submissions of the team")
    submitted_at = serializers.DateTimeField()
    baseline = serializers.BooleanField()
    submission_sha256 = serializers.CharField(allow_null=True, help_text="null if the submission was removed")


class ResultBoardSerializer(serializers.Serializer[Any]):
    split = serializers.ChoiceField(choices=SPLITS)
    entries = ResultEntrySerializer(many=True)


class ResultDocumentSerializer(serializers.Serializer[Any]):
    format = serializers.CharField()
    challenge = serializers.CharField()
    phase = serializers.CharField()
    track = serializers.CharField()
    parameters = serializers.DictField()
    public_share = serializers.FloatField()
    headline = serializers.CharField(help_text="the metric that ranks entries")
    signature = serializers.CharField(help_text="how the scores were computed")
    evaluator_version = serializers.CharField()
    truth = ResultTruthSerializer()
    decimals = serializers.IntegerField(
        allow_null=True, help_text="scores are rounded to this number of decimals after ranking; null if exact"
    )
    final = serializers.BooleanField(
        help_text="whether private scores were shown, nothing was queued or running, and no rescoring was open"
    )
    unfinished = serializers.ListField(
        child=serializers.CharField(), help_text="why the results are preliminary; empty if they are final"
    )
    exported_at = serializers.DateTimeField()
    leaderboards = ResultBoardSerializer(many=True)


class SignedResultsSerializer(serializers.Serializer[Any]):
    results = ResultDocumentSerializer()
    public_key = serializers.CharField(help_text="64 hexadecimal digits")
    ed25519 = serializers.CharField(help_text="the signature of `results`, 128 hexadecimal digits")
