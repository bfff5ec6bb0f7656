"""The expected HTTP status of each page and API route, by method and role of the user.

A method that is not listed for a route is refused for every role.
"""

ROLES = ("nobody", "stranger", "member", "mate", "rival", "organizer", "foreign", "staff", "superuser")
GROUPS = {
    **{role: (role,) for role in ROLES},
    "team": ("member", "mate"),  # the team of the submission
    "teams": ("member", "mate", "rival"),  # all participants
    "organizers": (
        "organizer",
        "staff",
        "superuser",
    ),  # "foreign", who organizes a different challenge, has no rights in this one
    "employees": ("staff", "superuser"),  # "staff" has no permissions in the admin
}
Answers = dict[str, int]
Methods = dict[str, Answers]


def who(rest: int, **groups: int) -> Answers:
    """Return the status for each role: `who(404, nobody=302, team=200)`.

    The first status is for roles that are in no given group. Later groups override earlier ones.
    """
    named = {role: status for group, status in groups.items() for role in GROUPS[group]}
    return {role: named.get(role, rest) for role in ROLES}


CHALLENGE = "challenges/<slug:slug>/"
SUBMISSION = "submissions/<uuid:pk>/"
PAGES: dict[str, Methods] = {
    "healthz": {"GET": who(200)},
    "readyz": {"GET": who(503)},  # not ready: no worker runs in these tests
    "": {"GET": who(200)},
    CHALLENGE: {"GET": who(200)},
    CHALLENGE + "data": {"GET": who(200)},
    CHALLENGE + "data/sample": {"GET": who(200)},
    CHALLENGE + "data/candidates": {"GET": who(200)},
    CHALLENGE + "rules": {"GET": who(200)},
    CHALLENGE + "join": {"POST": who(302, organizers=403)},
    CHALLENGE + "team": {"GET": who(403, nobody=302, teams=200)},
    CHALLENGE + "submit": {
        "GET": who(403, nobody=302, teams=200),
        "POST": who(403, nobody=302, teams=422),  # the form has no file
    },
    CHALLENGE + "submissions": {"GET": who(403, nobody=302, teams=200)},
    CHALLENGE + "compare": {"GET": who(403, nobody=302, teams=200)},
    CHALLENGE + "leaderboard": {"GET": who(200)},
    CHALLENGE + "leaderboard?split=private": {"GET": who(403, organizers=200)},
    CHALLENGE + "leaderboard?split=all": {"GET": who(403, organizers=200)},
    CHALLENGE + "leaderboard/compare": {"GET": who(200)},
    CHALLENGE + "leaderboard/compare?split=private": {"GET": who(403, organizers=200)},
    CHALLENGE + "leaderboard.csv": {"GET": who(200)},
    CHALLENGE + "leaderboard.csv?split=private": {"GET": who(403, organizers=200)},
    CHALLENGE + "leaderboard.csv?split=all": {"GET": who(403, organizers=200)},
    CHALLENGE + "?phase=none": {"GET": who(404)},
    SUBMISSION: {"GET": who(404, nobody=302, team=200, organizers=200)},
    SUBMISSION + "panel": {"GET": who(404, nobody=401, team=200, organizers=200)},
    SUBMISSION + "report.json": {"GET": who(404, nobody=302, team=200, organizers=200)},
    SUBMISSION + "classes.csv": {"GET": who(404, nobody=302)},  # the phase of these tests shows no results per class
    SUBMISSION + "curves.csv": {"GET": who(404, nobody=302)},
    SUBMISSION + "cancel": {"POST": who(404, nobody=302, team=302, organizers=302)},
    SUBMISSION + "edit": {"POST": who(404, nobody=302, team=302, organizers=403)},
    "accounts/": {"GET": who(200, nobody=302)},
    "accounts/signup": {
        **{method: who(302, nobody=200) for method in ("GET", "POST")},
        **{method: who(302, nobody=405) for method in ("PUT", "PATCH", "DELETE")},  # redirects to the previous page
    },
    "accounts/login": {
        **{method: who(302, nobody=200) for method in ("GET", "POST")},
        **{method: who(302, nobody=405) for method in ("PUT", "PATCH", "DELETE")},  # redirects to the previous page
    },
    "accounts/logout": {"POST": who(302)},
    "accounts/confirm": {"GET": who(200)},
    "accounts/confirm/<str:key>": {"GET": who(200), "POST": who(404)},  # the link is invalid
    "accounts/tokens": {"POST": who(422, nobody=302)},
    "accounts/tokens/<int:pk>/revoke": {"POST": who(404, nobody=302, member=302)},
    "accounts/password": {"GET": who(200, nobody=302), "POST": who(200, nobody=302)},
    "accounts/password/first": {
        "GET": who(302),
        "POST": who(302),
    },  # users who already have a password are redirected to the page that changes it
    "accounts/password/forgotten": {"GET": who(200), "POST": who(200)},
    "accounts/password/sent": {"GET": who(200)},
    # the link is invalid; the error page is shown for every method
    "accounts/password/new/<str:uidb36>/<str:key>": {
        method: who(200) for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
    },
    "accounts/password/done": {"GET": who(200)},
}

API_CHALLENGE = "api/v1/challenges/<slug:slug>"
API_PHASE = API_CHALLENGE + "/phases/<slug:phase>"
API_SUBMISSION = "api/v1/submissions/<uuid:submission_id>"
API: dict[str, Methods] = {
    "api/v1/challenges": {"GET": who(200)},
    API_CHALLENGE: {"GET": who(200)},
    API_CHALLENGE + "/join": {"POST": who(201, nobody=401, teams=200, organizers=403)},
    API_CHALLENGE + "/join-requests": {"GET": who(403, nobody=401, organizers=200)},
    API_CHALLENGE + "/join-requests/<int:request_id>": {"POST": who(403, nobody=401, organizers=422)},  # an empty form
    API_PHASE + "/quota": {"GET": who(403, nobody=401, teams=200)},
    API_PHASE + "/quota/statement": {"GET": who(403, nobody=401, teams=200)},
    API_PHASE + "/submissions": {
        "GET": who(403, nobody=401, teams=200),
        "POST": who(403, nobody=401, teams=422),  # the form has no file
    },
    API_PHASE + "/leaderboard": {"GET": who(200)},
    API_PHASE + "/leaderboard?split=private": {"GET": who(403, organizers=200)},
    API_PHASE + "/leaderboard?split=all&format=csv": {"GET": who(403, organizers=200)},
    API_PHASE + "/truths": {
        "GET": who(403, nobody=401, organizers=200),
        "POST": who(403, nobody=401, organizers=422),  # the form has no file
    },
    API_PHASE + "/rescore": {
        "GET": who(403, nobody=401, organizers=404),  # no rescoring has been started
        "POST": who(403, nobody=401, organizers=200),
    },
    API_PHASE + "/rescore/apply": {"POST": who(403, nobody=401, organizers=404)},
    API_PHASE + "/rescore/discard": {"POST": who(403, nobody=401, organizers=404)},
    API_SUBMISSION: {
        "GET": who(404, nobody=401, team=200, organizers=200),
        "PATCH": who(404, nobody=401, team=200, organizers=403),
    },
    API_SUBMISSION + "/report": {"GET": who(404, nobody=401, team=200, organizers=200)},
    API_SUBMISSION + "/cancel": {"POST": who(404, nobody=401, team=200, organizers=200)},
    "api/v1/schema": {"GET": who(200)},
    "api/v1/docs": {"GET": who(200)},
    r"api/v1/^[\s\S]*$": {},
}


OTHERS = ("PUT", "PATCH", "DELETE")


def door(staff: int, superuser: int | None = None) -> Methods:
    """Return the statuses of an admin page. Users who are not staff are redirected to the login by every method."""
    answers = who(302, staff=staff, superuser=staff if superuser is None else superuser)
    return dict.fromkeys(("GET", "POST", "PUT", "PATCH", "DELETE"), answers)


def model(name: str, *, add: int = 403, change: int = 403) -> dict[str, Methods]:
    """Return the statuses of all admin pages of a model: superusers may read, staff without permissions are refused."""
    read = door(403, 200)
    return {
        f"admin/{name}/": read,
        f"admin/{name}/add/": door(403, add),
        f"admin/{name}/<path:object_id>/history/": read,
        f"admin/{name}/<path:object_id>/delete/": door(403),
        f"admin/{name}/<path:object_id>/change/": {**read, "POST": door(403, change)["POST"]},
        f"admin/{name}/<path:object_id>/": door(302),
    }


ADMIN: dict[str, Methods] = {
    # redirects to the login page, or to the admin
    "admin/login/": {method: who(403, nobody=302, employees=302) for method in ("GET", "POST", *OTHERS)},
    "admin/password_change/": {method: who(302) for method in ("GET", "POST", "PUT", "PATCH", "DELETE")},
    "admin/": door(200),
    "admin/logout/": {"GET": who(302, employees=405), "POST": who(302), **dict.fromkeys(OTHERS, who(302))},
    "admin/password_change/done/": {**door(405), "GET": who(302, employees=200)},
    "admin/autocomplete/": {**door(405), "GET": who(302, employees=403)},
    "admin/jsi18n/": {**door(405), "GET": who(302, employees=200)},
    "admin/r/<path:content_type_id>/<path:object_id>/": door(404),
    "admin/accounts/user/<id>/password/": door(403, 200),
    "admin/^(?P<app_label>": door(404, 200),
    "admin/(?P<url>.*)$": door(404),
    **model("audit/entry"),
    **model("accounts/user", add=200, change=200),
    **model("account/emailaddress"),
    **model("accounts/apitoken"),
    **model("challenges/challenge", change=200),
    **model("challenges/phase", change=200),
    **model("challenges/truth"),
    **model("challenges/team", change=200),
    **model("challenges/membership"),
    **model("challenges/joinrequest"),
    **model("submissions/submission"),
    **model("submissions/evaluation"),
    **model("submissions/quotaentry"),
}

TABLE = PAGES | API | ADMIN
