"""API serializers for leaderboards and their history."""

from typing import Any

from rest_framework import serializers

from evaluator.catalog import TRACKS, Track
from server.accounts.countries import COUNTRIES
from server.api.serializers.fields import Interval, QueryTime
from server.clock import time_text
from server.leaderboards.compared import RankInterval
from server.leaderboards.listing import BASELINES, SEARCH_CHARACTERS, SEARCH_ROWS, Selection, sort_metric
from server.submissions.feedback import SPLITS


def interval_json(found: RankInterval | None) -> dict[str, Any]:
    """Return the confidence interval for a rank as a dict with the fields of `RankIntervalSerializer`."""
    return {
        "rank_low": found and found.low,
        "rank_high": found and found.high,
        "rank_individual": found and found.individual,
        "rank_interval_at": found and time_text(found.at),
    }


class CountryField(serializers.ChoiceField):
    """A field for a country code, in upper or lower case."""

    def to_internal_value(self, data: Any) -> Any:
        return super().to_internal_value(str(data).upper())


class BoardQuery(serializers.Serializer[Any]):
    split = serializers.ChoiceField(choices=SPLITS, default="public")
    at = QueryTime(
        default=None,
        help_text=(
            "show the leaderboard as it was at this time; ISO 8601, in UTC if no time zone is given; fractions of a "
            "second are ignored"
        ),
    )
    search = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=SEARCH_CHARACTERS,
        help_text=f"only teams whose name contains this text, ignoring letter case; at most the first {SEARCH_ROWS:,}",
    )
    baselines = serializers.ChoiceField(
        choices=BASELINES,
        default="",
        help_text="`only` for baselines only, `hide` for no baselines; by default, all entries",
    )
    sort = serializers.ChoiceField(
        choices=sorted({metric.name for track in TRACKS.values() for metric in track.metrics}),
        default="",
        help_text="sort by a metric other than the headline; by default, and always with `at`, entries are sorted by "
        "rank",
    )
    country = CountryField(
        choices=sorted(COUNTRIES),
        default="",
        allow_blank=True,
        help_text="only teams with a member from this country (ISO 3166-1 alpha-2) whose name is shown on the public "
        "page of the team",
    )
    all = serializers.BooleanField(default=False, help_text="return all entries as one stream, as `csv` always does")

    def selection(self, track: Track) -> Selection:
        """Return the filter and the sort order that a client requested for a leaderboard.

        If leaderboards of the track cannot be sorted by the requested metric, the entries are in rank order.
        """
        asked = self.validated_data
        return Selection(asked["search"], asked["baselines"], sort_metric(track, asked["sort"]), asked["country"])


class RankIntervalSerializer(serializers.Serializer[Any]):
    rank_low = serializers.IntegerField(
        allow_null=True, help_text="the best rank that the team could have, with 95% confidence; null if not computed"
    )
    rank_high = serializers.IntegerField(allow_null=True, help_text="the worst rank that the team could have")
    rank_individual = serializers.BooleanField(
        allow_null=True,
        help_text="whether the 95% confidence applies to this rank interval individually; if false, it applies to the "
        "intervals of the first 100 teams jointly",
    )
    rank_interval_at = serializers.DateTimeField(allow_null=True, help_text="when this rank interval was computed")


class RowSerializer(RankIntervalSerializer):
    rank = serializers.IntegerField(allow_null=True, help_text="null for a baseline")
    team = serializers.CharField()
    team_id = serializers.IntegerField(help_text="the id of the team in `…/teams/{team_id}`")
    score = serializers.FloatField()
    interval = Interval(help_text="95% confidence interval of the score; null if not computed yet")
    scores = serializers.DictField(child=serializers.FloatField(allow_null=True))
    entries = serializers.IntegerField(help_text="number of scored submissions of the team")
    submitted_at = serializers.DateTimeField()
    baseline = serializers.BooleanField()
    tied = serializers.BooleanField(
        allow_null=True,
        help_text=(
            "whether the entry belongs to the tie group of the team above: the first team of the group is not "
            "significantly better in a paired bootstrap test; null if not tested"
        ),
    )
    rank_change = serializers.IntegerField(
        allow_null=True,
        help_text="number of ranks gained since `changes_since`; negative if ranks were lost; null if not compared",
    )
    is_new = serializers.BooleanField(help_text="whether the team had no entry at `changes_since`")
    score_change = serializers.FloatField(
        allow_null=True, help_text="the difference from the team's score at `changes_since`; null if not comparable"
    )
    score_change_interval = Interval(help_text="95% confidence interval of the paired difference; null if not computed")
    public_rank = serializers.IntegerField(
        allow_null=True,
        help_text="the rank on the public leaderboard; null unless this is the private leaderboard and the phase is "
        "over",
    )


class OwnEntrySerializer(RowSerializer):
    of = serializers.IntegerField(help_text="number of ranked teams")
    percentile = serializers.FloatField(
        allow_null=True,
        help_text="percentage of teams that are not ranked higher; 100 for the first rank, null for a baseline",
    )
    next_rank = serializers.IntegerField(
        allow_null=True,
        help_text="the next higher rank; null for the first rank, for baselines, and under ladder feedback",
    )
    gap = serializers.FloatField(
        allow_null=True,
        help_text="the difference between the score at the next higher rank and the score of this entry",
    )
    gap_may_be_luck = serializers.BooleanField(
        allow_null=True,
        help_text="whether the gap is not significant in a paired bootstrap test; null if not tested",
    )


class BoardSerializer(serializers.Serializer[Any]):
    """A page of a leaderboard. `me` is the entry of your own team, even if it is on another page."""

    split = serializers.ChoiceField(choices=SPLITS)
    signature = serializers.CharField()
    at = serializers.DateTimeField()
    reconstructed = serializers.BooleanField(
        help_text="whether the leaderboard was reconstructed from scores, because no history was recorded at this time"
    )
    frozen = serializers.BooleanField(
        help_text="whether newer entries are hidden from you because the leaderboard is frozen until the phase is over"
    )
    changes_since = serializers.DateTimeField(
        allow_null=True,
        help_text=(
            "the time with which the current ranks are compared: 00:00 UTC one week ago; null if there "
            "is no comparison, as for earlier times, other splits and ladder feedback"
        ),
    )
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    me = OwnEntrySerializer(allow_null=True)
    results = RowSerializer(many=True)


class HistoryQuery(serializers.Serializer[Any]):
    split = serializers.ChoiceField(choices=SPLITS, default="public")
    team = serializers.CharField(
        default=None, max_length=80, help_text="the name of one team; by default, the first ten teams"
    )


class HistoryPointSerializer(serializers.Serializer[Any]):
    """The score and rank that a team has from the time `at` onward. Both are null while the team has no entry."""

    at = serializers.DateTimeField(help_text="in whole seconds, rounded up")
    score = serializers.FloatField(allow_null=True)
    rank = serializers.IntegerField(allow_null=True, help_text="null if the score is undefined, or for a baseline")


class TeamHistorySerializer(serializers.Serializer[Any]):
    team = serializers.CharField()
    points = HistoryPointSerializer(many=True)


class HistorySerializer(serializers.Serializer[Any]):
    """The history of some teams on a leaderboard, ordered by rank.

    A team has one point for each change of its score or rank. If the leaderboard changed more than 200 times, the
    period is divided into 200 equal parts, and only the last state of each part is returned.
    """

    split = serializers.ChoiceField(choices=SPLITS)
    results = TeamHistorySerializer(many=True)
