"""The expected HTTP status of each organizer page, by HTTP method and role of the user. See also `access_table.py`."""

from tests.server.access_roles import Methods, who

ORGANIZED = "organize/challenges/<slug:slug>"
ORGANIZERS = "challenges/<slug:slug>/organizers"
PHASE = ORGANIZED + "/phases/<slug:phase>"
PHASE_PAGES = ("", "/live", "/unusual", "/submissions", "/submissions.csv", "/truths/<int:version>")
REQUEUE = (
    "submissions/requeue",
    "submissions/rescore",
    *(f"submissions/<uuid:pk>/{act}" for act in ("requeue", "hide")),
)
CONSOLE: dict[str, Methods] = {
    # Staff, and owners and editors of any challenge, may import challenges. The status is 422 without a file.
    "organize/import": {
        "GET": who(403, nobody=302, editors=200, foreign=200),
        "POST": who(403, nobody=302, editors=422, foreign=422),
    },
    "organize/": {"GET": who(403, nobody=302, organizers=200, foreign=200)},
    # The submission in these URLs is scored, so it can be rescored and hidden (302). The other requests have no effect:
    # no rescoring has been started (404), or the form contains neither a version nor a file of the ground truth (422).
    **{
        f"{PHASE}/{action}": {"POST": who(403, nobody=302, editors=status)}
        for status, actions in ((302, REQUEUE), (409, ("apply", "discard")), (422, ("truth", "rescore")))
        for action in actions
    },
    **{
        f"{ORGANIZED}{page}": {"GET": who(403, nobody=302, organizers=200)}
        for page in ("", *(f"/phases/<slug:phase>{one}" for one in PHASE_PAGES))
    },
    # Staff, and owners and editors of any challenge, may create challenges. The status is 422 for an empty form.
    "organize/new": {
        "GET": who(403, nobody=302, editors=200, foreign=200),
        "POST": who(403, nobody=302, editors=422, foreign=422),
    },
    **{
        page: {"GET": who(403, nobody=302, editors=200), "POST": who(403, nobody=302, editors=422)}
        for page in (ORGANIZED + "/new-phase", ORGANIZED + "/clone", PHASE + "/clone")
    },
    # The challenge is already published, so it cannot be published again (422).
    ORGANIZED + "/publish": {"POST": who(403, nobody=302, editors=422)},
    # Owners confirm the next three actions by typing the short name of the challenge or phase. Empty forms are rejected
    # with 422. A challenge that somebody has joined cannot be deleted (409).
    PHASE + "/reveal": {"GET": who(403, nobody=302, organizers=200), "POST": who(403, nobody=302, owners=422)},
    ORGANIZED + "/archive": {"GET": who(403, nobody=302, owners=200), "POST": who(403, nobody=302, owners=422)},
    ORGANIZED + "/delete": {"GET": who(403, nobody=302, owners=200), "POST": who(403, nobody=302, owners=409)},
    "organize/preview": {"POST": who(403, nobody=302, organizers=200, foreign=200)},
    # Forms for editing a challenge or a phase are rejected with 422 if they are empty.
    **{
        page: {"GET": who(403, nobody=302, organizers=200), "POST": who(403, nobody=302, editors=422)}
        for page in (ORGANIZED + "/edit", PHASE + "/edit")
    },
    # An empty form for a new baseline is rejected with 422. The team whose id replaces `<int:team>` is not a baseline,
    # so there is nothing to change (404).
    PHASE + "/baselines": {"GET": who(403, nobody=302, organizers=200), "POST": who(403, nobody=302, editors=422)},
    PHASE + "/baselines/<int:team>": {"POST": who(403, nobody=302, editors=404)},
    # An empty form for blocking a user is rejected with 422.
    ORGANIZED + "/blocked": {"GET": who(403, nobody=302, organizers=200), "POST": who(403, nobody=302, editors=422)},
    # An empty form, which approves no request, is rejected with 422.
    ORGANIZED + "/teams": {"GET": who(403, nobody=302, organizers=200), "POST": who(403, nobody=302, editors=422)},
    PHASE + "/live/panel": {"GET": who(403, nobody=401, organizers=200)},
    # Forms for pausing a phase, or for changing its rules for one team, are rejected with 422 if they are empty.
    **{
        PHASE + page: {"GET": who(403, nobody=302, organizers=200), "POST": who(403, nobody=302, editors=422)}
        for page in ("/intake", "/teams/<int:team>")
    },
    PHASE + "/preview": {"GET": who(403, nobody=302, organizers=404)},
    # The export fails with 422, because the stored ground truth of this challenge is an empty file.
    ORGANIZED + "/export": {"POST": who(403, nobody=302, editors=422)},
    ORGANIZERS: {
        "GET": who(403, nobody=302, organizers=200),
        "POST": who(403, nobody=302, owners=302),
    },
    # Empty forms are rejected with 422. The URL parameter `organizer` is the user with the role "editor".
    ORGANIZERS + "/add": {"POST": who(403, nobody=302, owners=422)},
    ORGANIZERS + "/<int:organizer>/role": {"POST": who(403, nobody=302, owners=422)},
    # The user with the role "rival" has an offer to become an organizer. The POST request declines the offer.
    ORGANIZERS + "/offer": {"GET": who(404, nobody=302, rival=200), "POST": who(404, nobody=302, rival=302)},
    ORGANIZERS + "/offers/<int:offer>/withdraw": {"POST": who(403, nobody=302, owners=302)},
    ORGANIZERS + "/<int:organizer>/remove": {"POST": who(403, nobody=302, owners=302)},
}
