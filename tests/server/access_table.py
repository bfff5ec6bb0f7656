"""The expected HTTP status of each page and API route, by HTTP method and role of the user.

For every method that is not listed for a route, the status must be 401, 403, 404 or 405 for every role.
"""

from tests.server.access_console import CONSOLE
from tests.server.access_roles import GROUPS, OTHERS, ROLES, Answers, Methods, door, model, who

__all__ = ["GROUPS", "ROLES", "Answers"]

ALL = ("GET", "POST", "PUT", "PATCH", "DELETE")
CHALLENGE = "challenges/<slug:slug>/"
SUBMISSION = "submissions/<uuid:pk>/"
PAGES: dict[str, Methods] = {
    "livez": {"GET": who(200)},
    "healthz": {"GET": who(200)},
    "readyz": {"GET": who(200)},
    "metrics": {"GET": who(404)},  # By default, no client may read the Prometheus metrics.
    "status": {"GET": who(200)},
    "status.json": {"GET": who(200)},
    "": {"GET": who(200)},
    "podium.zip": {"GET": who(200)},
    "help/": {"GET": who(200)},
    "help/<slug:name>": {"GET": who(200)},
    "help/schema/challenge.json": {"GET": who(200)},
    "robots.txt": {"GET": who(200)},
    "sitemap.xml": {"GET": who(200)},
    CHALLENGE: {"GET": who(200)},
    CHALLENGE + "data": {"GET": who(200)},
    CHALLENGE + "data/sample": {"GET": who(200)},
    CHALLENGE + "data/candidates": {"GET": who(200)},
    CHALLENGE + "data/kit": {"GET": who(200)},
    CHALLENGE + "changes": {"GET": who(200)},
    CHALLENGE + "rules": {"GET": who(200)},
    CHALLENGE + "join": {"POST": who(302, organizers=403)},
    CHALLENGE + "announcements": {"GET": who(200), "POST": who(403, editors=422)},  # The announcement has no text.
    CHALLENGE + "team": {"GET": who(200, nobody=302, organizers=403)},
    # Only captains, who are the users with the roles "member" and "rival", may rename a team or change its profile. All
    # forms are empty.
    CHALLENGE + "team/rename": {"POST": who(403, nobody=302, member=422, rival=422)},
    CHALLENGE + "team/profile": {"POST": who(403, nobody=302, member=302, rival=302)},
    CHALLENGE + "team/shown": {"POST": who(403, nobody=302, teams=302)},
    CHALLENGE + "team/leave": {
        "GET": who(403, nobody=302, teams=200),
        # A captain cannot leave a team that has other members.
        "POST": who(403, nobody=302, member=409, mate=302, rival=302),
    },
    # In the next two URLs, the parameter `member` is the user with the role "mate".
    CHALLENGE + "team/members/<int:member>/remove": {
        "GET": who(403, nobody=302, member=200, rival=404),
        "POST": who(403, nobody=302, member=409, rival=404),  # Nobody can be removed from a team that has submitted.
    },
    CHALLENGE + "team/members/<int:member>/captain": {
        "GET": who(403, nobody=302, member=200, rival=404),
        "POST": who(403, nobody=302, member=302, rival=404),
    },
    CHALLENGE + "team/invite": {"POST": who(403, nobody=302, member=422, rival=422)},
    CHALLENGE + "team/link": {"POST": who(403, nobody=302, member=200, rival=200)},
    CHALLENGE + "team/ask": {"POST": who(422, nobody=302, organizers=403)},
    CHALLENGE + "team/merge": {
        "GET": who(403, nobody=302, member=422, rival=422),
        "POST": who(403, nobody=302, member=422, rival=422),
    },
    CHALLENGE + "team/merges/<int:proposal>": {
        "GET": who(403, nobody=302, member=200, rival=200),
        "POST": who(403, nobody=302, member=302, rival=302),
    },
    # The team of the user with the role "member" has invited the user with the role "stranger".
    CHALLENGE + "invitations/<int:invitation>": {
        "GET": who(404, nobody=302, stranger=200, member=302),
        "POST": who(404, nobody=302, stranger=302, member=302),
    },
    CHALLENGE + "teams/<int:team>": {"GET": who(200)},
    "invitation": {"GET": who(404), "POST": who(404)},  # The requests have no cookie with an invitation token.
    "invitations/<slug:token>": {"GET": who(302)},
    CHALLENGE + "submit": {
        "GET": who(200, nobody=302, organizers=403),
        "POST": who(403, nobody=302, teams=422),  # A form without a file and without consent to the rules is rejected.
    },
    CHALLENGE + "submissions": {"GET": who(403, nobody=302, teams=200)},
    CHALLENGE + "compare": {"GET": who(403, nobody=302, teams=200)},
    CHALLENGE + "leaderboard": {"GET": who(200)},
    CHALLENGE + "leaderboard?split=private": {"GET": who(403, organizers=200)},
    CHALLENGE + "leaderboard?split=all": {"GET": who(403, organizers=200)},
    CHALLENGE + "leaderboard/history": {"GET": who(200)},
    CHALLENGE + "leaderboard/history?split=private": {"GET": who(403, organizers=200)},
    CHALLENGE + "leaderboard/history?split=all&chart=rank": {"GET": who(403, organizers=200)},
    CHALLENGE + "leaderboard/compare": {"GET": who(200)},
    CHALLENGE + "leaderboard/compare?split=private": {"GET": who(403, organizers=200)},
    CHALLENGE + "leaderboard.csv": {"GET": who(200)},
    CHALLENGE + "leaderboard.csv?split=private": {"GET": who(403, organizers=200)},
    CHALLENGE + "leaderboard.csv?split=all": {"GET": who(403, organizers=200)},
    # The results are not final while the phase is open, so organizers get 409. Nobody else may request the results.
    CHALLENGE + "results.json": {"GET": who(403, organizers=409)},
    CHALLENGE + "results.csv": {"GET": who(403, organizers=409)},
    CHALLENGE + "?phase=none": {"GET": who(404)},
    SUBMISSION: {"GET": who(404, nobody=302, team=200, organizers=200)},
    SUBMISSION + "report/<slug:tab>": {"GET": who(404, nobody=302, team=200, organizers=200)},
    SUBMISSION + "panel": {"GET": who(404, nobody=401, team=200, organizers=200)},
    SUBMISSION + "report.json": {"GET": who(404, nobody=302, team=200, organizers=200)},
    # The settings of the phase hide the results per class, so the files with these results do not exist for any role.
    SUBMISSION + "classes.csv": {"GET": who(404, nobody=302)},
    SUBMISSION + "curves.csv": {"GET": who(404, nobody=302)},
    SUBMISSION + "file": {"GET": who(404, nobody=302, team=200, organizers=403)},
    SUBMISSION + "cancel": {"POST": who(404, nobody=302, team=302, viewer=403, editors=302)},
    # The submission in this URL was not rejected, so its file cannot be submitted again.
    SUBMISSION + "submit-anyway": {"POST": who(404, nobody=302, team=422, organizers=422)},
    SUBMISSION + "edit": {"POST": who(404, nobody=302, team=302, organizers=403)},
    "accounts/": {"GET": who(200, nobody=302)},
    "accounts/signup": {
        **{method: who(302, nobody=200) for method in ("GET", "POST")},
        # Logged-in users are redirected for every HTTP method.
        **{method: who(302, nobody=405) for method in ("PUT", "PATCH", "DELETE")},
    },
    "accounts/login": {
        **{method: who(302, nobody=200) for method in ("GET", "POST")},
        # Logged-in users are redirected for every HTTP method.
        **{method: who(302, nobody=405) for method in ("PUT", "PATCH", "DELETE")},
    },
    "accounts/logout": {"POST": who(302)},
    "accounts/confirm": {"GET": who(200)},
    "accounts/confirm/<str:key>": {"GET": who(200), "POST": who(404)},  # The confirmation key in the URL is invalid.
    # A form without a login code is rejected with 404.
    "accounts/device": {"GET": who(200, nobody=302), "POST": who(404, nobody=302)},
    "accounts/tokens": {"POST": who(422, nobody=302)},
    "accounts/tokens/<int:pk>/revoke": {"POST": who(404, nobody=302, member=302)},
    "accounts/profile": {"GET": who(200, nobody=302), "POST": who(302)},
    "accounts/security": {"GET": who(200, nobody=302)},
    "accounts/security/devices/<int:pk>/sign-out": {"POST": who(404, nobody=302, member=302)},
    "accounts/security/devices/sign-out": {"POST": who(302)},
    # For every HTTP method, the following pages about two-factor authentication redirect to a page that asks for the
    # password.
    **dict.fromkeys(
        (
            *("accounts/two-factor/activate", "accounts/two-factor/codes/new"),
            *("accounts/two-factor/login", "accounts/two-factor/confirm"),
        ),
        dict.fromkeys(ALL, who(302)),
    ),
    # No user has two-factor authentication, so the pages for its recovery codes and for turning it off do not exist.
    "accounts/two-factor/deactivate": {method: who(404, nobody=302) for method in ALL},
    "accounts/two-factor/codes": {method: who(404 if method == "GET" else 405, nobody=302) for method in ALL},
    "accounts/two-factor/codes/download": {method: who(404, nobody=302) for method in ALL},
    "accounts/again": {method: who(200 if method in ("GET", "POST") else 405, nobody=302) for method in ALL},
    "accounts/notices": {"GET": who(200, nobody=302)},
    "accounts/notices/read": {"POST": who(302)},
    "accounts/notices/mails": {"POST": who(302)},
    "accounts/data": {"GET": who(200, nobody=302)},
    "accounts/data/export": {"GET": who(302)},
    "accounts/data/delete": {"GET": who(302), "POST": who(302)},
    "unsubscribe/<str:token>": {"GET": who(404), "POST": who(404)},  # The token in the URL is invalid.
    "accounts/password": {"GET": who(200, nobody=302), "POST": who(200, nobody=302)},
    "accounts/password/first": {
        "GET": who(302),
        "POST": who(302),
        # Users who already have a password are redirected to the page for changing it.
    },
    "accounts/password/forgotten": {"GET": who(200), "POST": who(200)},
    "accounts/password/sent": {"GET": who(200)},
    # The key in the link is invalid, so an error page is shown for every method.
    "accounts/password/new/<str:uidb36>/<str:key>": {
        method: who(200) for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
    },
    "accounts/password/done": {"GET": who(200)},
}

API_CHALLENGE = "api/v1/challenges/<slug:slug>"
API_PHASE = API_CHALLENGE + "/phases/<slug:phase>"
API_SUBMISSION = "api/v1/submissions/<uuid:submission_id>"
API: dict[str, Methods] = {
    "api/v1/challenges": {
        "GET": who(200),
        # Staff, and owners and editors of any challenge, may import challenges. The status is 422 without a file.
        "POST": who(403, nobody=401, editors=422, foreign=422),
    },
    API_CHALLENGE: {"GET": who(200)},
    # The export fails with 422, because the stored ground truth of this challenge is an empty file.
    API_CHALLENGE + "/export": {"POST": who(403, nobody=401, editors=422)},
    API_CHALLENGE + "/join": {"POST": who(201, nobody=401, teams=200, organizers=403)},
    API_CHALLENGE + "/join-requests": {"GET": who(403, nobody=401, organizers=200)},
    # An empty body is rejected with 422.
    API_CHALLENGE + "/join-requests/<int:request_id>": {"POST": who(403, nobody=401, editors=422)},
    API_CHALLENGE + "/team": {
        "GET": who(403, nobody=401, teams=200),
        "PATCH": who(403, nobody=401, teams=422),  # A body with an unknown field is rejected.
    },
    API_CHALLENGE + "/team/members/<str:username>": {
        # The parameter `username` is the user with the role "mate". The status is 409, because the team has submitted.
        "DELETE": who(403, nobody=401, member=409, mate=204, rival=404)
    },
    API_CHALLENGE + "/team/invitations": {"POST": who(403, nobody=401, member=201, rival=201)},
    API_CHALLENGE + "/team/merges": {"POST": who(403, nobody=401, teams=422)},  # An empty body is rejected.
    API_CHALLENGE + "/team/merges/<int:merge_id>": {
        "GET": who(403, nobody=401, teams=200),
        "POST": who(403, nobody=401, teams=422),
    },
    API_CHALLENGE + "/teams/<int:team_id>": {"GET": who(200)},
    API_CHALLENGE + "/invitations": {"GET": who(200, nobody=401), "POST": who(422, nobody=401)},
    API_CHALLENGE + "/invitations/<int:invitation_id>": {"POST": who(404, nobody=401, stranger=422, member=422)},
    "api/v1/invitations": {"POST": who(422, nobody=401)},
    API_PHASE + "/quota": {"GET": who(403, nobody=401, teams=200)},
    API_PHASE + "/quota/statement": {"GET": who(403, nobody=401, teams=200)},
    # An empty body, which grants nothing, is rejected with 422.
    API_PHASE + "/teams/<int:team_id>/grants": {
        "GET": who(403, nobody=401, organizers=200),
        "POST": who(403, nobody=401, editors=422),
    },
    API_PHASE + "/teams/<int:team_id>/grants/<int:grant_id>/take-back": {"POST": who(403, nobody=401, editors=422)},
    # An empty body or form is rejected with 422. The status of the baseline URLs with `team_id` is 404, because that
    # team is not a baseline.
    API_CHALLENGE + "/blocks": {
        "GET": who(403, nobody=401, organizers=200),
        "POST": who(403, nobody=401, editors=422),
    },
    API_CHALLENGE + "/blocks/<int:block_id>": {"DELETE": who(403, nobody=401, editors=204)},
    API_PHASE + "/baselines": {
        "GET": who(403, nobody=401, organizers=200),
        "POST": who(403, nobody=401, editors=422),
    },
    API_PHASE + "/baselines/<int:team_id>/remove": {"POST": who(403, nobody=401, editors=404)},
    API_PHASE + "/baselines/<int:team_id>/put-back": {"POST": who(403, nobody=401, editors=404)},
    API_PHASE + "/kit": {"GET": who(200)},
    API_PHASE + "/template": {"GET": who(200)},
    API_PHASE + "/candidates": {"GET": who(200)},
    API_PHASE + "/submissions": {
        "GET": who(403, nobody=401, teams=200),
        "POST": who(403, nobody=401, teams=422),  # A form without a file is rejected.
    },
    # An upload without the header Tus-Resumable is rejected with 412.
    API_PHASE + "/uploads": {"POST": who(403, nobody=401, teams=412)},
    API_PHASE + "/leaderboard": {"GET": who(200)},
    API_PHASE + "/leaderboard/history": {"GET": who(200)},
    API_PHASE + "/leaderboard/history?split=private": {"GET": who(403, organizers=200)},
    API_PHASE + "/leaderboard?split=private": {"GET": who(403, organizers=200)},
    API_PHASE + "/leaderboard?split=all&format=csv": {"GET": who(403, organizers=200)},
    API_PHASE + "/truths": {
        "GET": who(403, nobody=401, organizers=200),
        "POST": who(403, nobody=401, editors=422),  # A form without a file is rejected.
    },
    API_PHASE + "/changes": {"GET": who(200)},
    API_PHASE + "/rescore": {
        "GET": who(403, nobody=401, organizers=404),  # No rescoring of this phase has been started.
        "POST": who(403, nobody=401, editors=200),
    },
    API_PHASE + "/results": {"GET": who(403, organizers=409)},
    API_PHASE + "/results?format=csv": {"GET": who(403, organizers=409)},
    API_PHASE + "/rescore/apply": {"POST": who(403, nobody=401, editors=404)},
    API_PHASE + "/rescore/discard": {"POST": who(403, nobody=401, editors=404)},
    API_SUBMISSION: {
        "GET": who(404, nobody=401, team=200, organizers=200),
        "PATCH": who(404, nobody=401, team=200, organizers=403),
    },
    API_SUBMISSION + "/report": {"GET": who(404, nobody=401, team=200, organizers=200)},
    API_SUBMISSION + "/file": {"GET": who(404, nobody=401, team=200, organizers=403)},
    API_SUBMISSION + "/cancel": {"POST": who(404, nobody=401, team=200, viewer=403, editors=200)},
    # The user with the role "member" has begun this upload. Nobody else can access it. A PATCH request without the
    # header Tus-Resumable is rejected with 412.
    "api/v1/uploads/<uuid:upload_id>": {
        "GET": who(404, nobody=401, member=200),
        "PATCH": who(404, nobody=401, member=412),
        "DELETE": who(404, nobody=401, member=204),
    },
    "api/v1/device/code": {"POST": who(422)},  # A request without a body is rejected with 422.
    "api/v1/device/token": {"POST": who(422)},
    "api/v1/me": {"GET": who(200, nobody=401)},
    "api/v1/me/token": {"DELETE": who(204, nobody=401)},
    "api/v1/signing-key": {"GET": who(200)},
    "api/v1/schema": {"GET": who(200)},
    "api/v1/docs": {"GET": who(200)},
    r"api/v1/^[\s\S]*$": {},
}


ADMIN: dict[str, Methods] = {
    # The login page of the admin redirects to the login page of the service or, for staff, to the admin.
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
    **model("accounts/user", add=200, change=200),
    # Rows of the following models cannot be added or changed in the admin.
    **model("audit/entry") | model("account/emailaddress") | model("accounts/apitoken"),
    **model("challenges/truth") | model("challenges/membership") | model("challenges/joinrequest"),
    **model("submissions/submission") | model("submissions/evaluation") | model("submissions/quotaentry"),
    **model("challenges/challenge", change=200),
    **model("challenges/phase", change=200),
    **model("challenges/team", change=200),
}

PAGES |= CONSOLE
TABLE = PAGES | API | ADMIN
