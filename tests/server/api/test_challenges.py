"""Tests challenges, memberships and quotas in the API."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries, Settings

from server.challenges.models import Challenge, Membership, Phase
from tests.conftest import Make
from tests.server.documented import Api

NOW = datetime.now(UTC)
DAY = timedelta(days=1)


pytestmark = pytest.mark.phase(
    challenge={"slug": "detection", "title": "Detection", "closes_at": NOW + DAY},
    slug="main",
    parameters={"group_of_weight": 0.0},
)


def test_a_challenge_has_the_documented_fields(api: Api, phase: Phase) -> None:
    shape = api.get("challenges/detection").json()
    assert {"slug", "title", "summary", "opens_at", "closes_at", "visibility", "phases"} <= set(shape)
    (main,) = shape["phases"]
    assert (main["slug"], main["track"], main["headline"], main["open"]) == (
        "main",
        "openimages-detection",
        "mAP",
        True,
    )
    assert main["truth"] == {"version": 1, "sha256": phase.truth.sha256}
    assert shape["opens_at"].endswith("Z")


def test_parameters_include_the_defaults_of_the_track(api: Api, phase: Phase) -> None:
    (main,) = api.get("challenges/detection").json()["phases"]
    assert main["parameters"]["group_of_weight"] == 0.0
    assert main["parameters"]["iou_threshold"] == 0.5


def test_a_phase_without_truth_is_not_open(api: Api, phase: Phase) -> None:
    phase.truths.update(active=False)
    (main,) = api.get("challenges/detection").json()["phases"]
    assert (main["truth"], main["open"]) == (None, False)


@pytest.mark.parametrize(("opens", "closes", "open_now"), [(-2, -1, False), (-2, 1, True), (1, 2, False)])
def test_whether_a_phase_is_open_depends_on_its_dates(
    api: Api, phase: Phase, opens: int, closes: int, open_now: bool
) -> None:
    type(phase).objects.update(opens_at=NOW + opens * DAY, closes_at=NOW + closes * DAY)
    (main,) = api.get("challenges/detection").json()["phases"]
    assert main["open"] is open_now


class TestVisibility:
    @pytest.fixture
    def slugs(self, make: Make) -> None:
        for visibility in Challenge.Visibility.values:
            make.challenge(slug=visibility, visibility=visibility)

    def listed(self, api: Api, **options: Any) -> set[str]:
        return {one["slug"] for one in api.get("challenges", **options).json()["results"]}

    def test_the_public_list_has_public_challenges_only(self, api: Api, slugs: None) -> None:
        assert self.listed(api) == {"public"}

    def test_an_unlisted_challenge_can_be_read(self, api: Api, slugs: None) -> None:
        assert api.get("challenges/unlisted").status_code == 200

    def test_a_private_challenge_does_not_exist_for_strangers(self, api: Api, slugs: None, make: Make) -> None:
        answer = api.get("challenges/private", user=make.user())
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")

    def test_a_draft_exists_for_its_organizers_only(self, api: Api, slugs: None, make: Make) -> None:
        for user in (make.user(), None):
            assert api.get("challenges/draft", user=user).status_code == 404
            assert "draft" not in self.listed(api, user=user)
        Challenge.objects.get(slug="draft").organizers.add(owner := make.user())
        assert api.get("challenges/draft", user=owner).status_code == 200

    def test_a_member_sees_a_private_challenge(self, api: Api, slugs: None, make: Make) -> None:
        user = make.user()
        make.team(Challenge.objects.get(slug="private"), user)
        assert api.get("challenges/private", user=user).status_code == 200
        assert self.listed(api, user=user) == {"public", "private"}

    def test_an_organizer_sees_a_private_challenge(self, api: Api, slugs: None, make: Make) -> None:
        user = make.user()
        Challenge.objects.get(slug="private").organizers.add(user)
        assert self.listed(api, user=user) == {"public", "private"}

    def test_staff_see_all_challenges(self, api: Api, slugs: None, make: Make) -> None:
        assert self.listed(api, user=make.user(is_staff=True)) == {"public", "unlisted", "private", "draft"}


def test_a_list_has_pages_of_fifty_with_absolute_links(api: Api, make: Make) -> None:
    for _ in range(51):
        make.challenge()
    first = api.get("challenges").json()
    assert (first["count"], len(first["results"]), first["previous"]) == (51, 50, None)
    assert first["next"] == "http://testserver/api/v1/challenges?page=2"
    second = api.get("challenges?page=2").json()
    assert (len(second["results"]), second["next"]) == (1, None)
    assert second["previous"] == "http://testserver/api/v1/challenges"


def test_the_number_of_queries_of_a_list_does_not_depend_on_its_length(
    api: Api, make: Make, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(5):
        make.phase()
    with django_assert_num_queries(
        5
        # The five queries read the number of challenges, the challenges, the phases, the ground truths and the database
        # clock.
    ):
        api.get("challenges")


def test_a_phase_has_the_limits_of_a_file(api: Api, phase: Phase, settings: Settings) -> None:
    settings.UPLOAD_MAX_BYTES, settings.EVALUATION_SECONDS = 3, 4
    settings.SUBMISSION_MAX_BOXES, settings.SUBMISSION_MAX_IMAGES = 5, 6
    (limits,) = (one["limits"] for one in api.get("challenges/detection").json()["phases"])
    assert (limits["upload_bytes"], limits["scoring_seconds"], limits["boxes"], limits["images"]) == (3, 4, 5, 6)
    assert {"decompressed_bytes", "decompressed_ratio", "line_bytes"} < set(limits)


class TestJoin:
    PATH = "challenges/detection/join"

    def test_joining_creates_a_team(self, api: Api, phase: Phase, make: Make) -> None:
        answer = api.post(self.PATH, {"accept_rules": True, "team": "Foxes"}, user=make.user())
        assert answer.status_code == 201
        assert (answer.json()["challenge"], answer.json()["team"], answer.json()["captain"]) == (
            "detection",
            "Foxes",
            True,
        )

    def test_joining_again_changes_nothing(self, api: Api, phase: Phase, make: Make) -> None:
        user = make.user()
        make.team(phase.challenge, user, name="Foxes")
        answer = api.post(self.PATH, {"accept_rules": True, "team": "Other"}, user=user)
        assert (answer.status_code, answer.json()["team"]) == (200, "Foxes")

    @pytest.mark.parametrize("body", [{}, {"accept_rules": False}, None])
    def test_joining_requires_consent_to_the_rules(self, api: Api, phase: Phase, make: Make, body: Any) -> None:
        answer = api.post(self.PATH, body, user=make.user())
        assert (answer.status_code, answer.json()["code"]) == (403, "rules_not_accepted")
        assert not Membership.objects.exists()

    @pytest.mark.parametrize("wrong", [{"accept_rules": "yes"}, {"accept_rules": 1}, {"team": 7}, {"Team": "Foxes"}])
    def test_values_of_the_wrong_type_are_refused(
        self, api: Api, phase: Phase, make: Make, wrong: dict[str, Any]
    ) -> None:
        answer = api.post(self.PATH, {"accept_rules": True, **wrong}, user=make.user())
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
        assert set(answer.json()["errors"]) == set(wrong)

    def test_joining_ends_with_the_registration_deadline(self, api: Api, phase: Phase, make: Make) -> None:
        Challenge.objects.update(join_until=NOW - DAY)
        answer = api.post(self.PATH, {"accept_rules": True}, user=make.user())
        assert (answer.status_code, answer.json()["code"]) == (409, "registration_closed")

    def test_joining_requires_a_login(self, api: Api, phase: Phase) -> None:
        answer = api.post(self.PATH, {"accept_rules": True})
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")

    @pytest.mark.parametrize(
        "body",
        [
            *("", "{", "[]", '"text"', "null", "17", '{"accept_rules": 3}', '{"accept_rules": NaN}', b"\xff\xfe"),
            *(
                '{"accept_rules": true, "team": ' + team
                for team in ("[1]}", '"a\\u0000b"}', '"\\ud800"}', '"\\u202e"}')
            ),
        ],
    )
    def test_invalid_bodies_are_refused(self, api: Api, phase: Phase, make: Make, body: Any) -> None:
        answer = api.post(self.PATH, body, user=make.user())
        assert answer.status_code in (403, 422), answer.content
        assert not Membership.objects.exists()


class TestQuota:
    PATH = "challenges/detection/phases/main/quota"

    def test_a_team_without_submissions_has_its_whole_quota(self, api: Api, phase: Phase, make: Make) -> None:
        user = make.user()
        make.team(phase.challenge, user)
        quota = api.get(self.PATH, user=user).json()
        assert (quota["used"], quota["left"], quota["next_allowed_at"], quota["reason"]) == (0, 5, None, None)
        assert quota["resets_at"].endswith("Z")

    def test_only_members_can_read_the_quota(self, api: Api, phase: Phase, make: Make) -> None:
        answer = api.get(self.PATH, user=make.user())
        assert (answer.status_code, answer.json()["code"]) == (403, "not_a_member")

    def test_reading_the_quota_requires_a_login(self, api: Api, phase: Phase) -> None:
        assert api.get(self.PATH).json()["code"] == "unauthenticated"

    def test_the_quota_of_an_unknown_phase_is_not_found(self, api: Api, phase: Phase, make: Make) -> None:
        assert api.get("challenges/detection/phases/none/quota", user=make.user()).status_code == 404
