"""The tabs of a challenge's pages."""

from dataclasses import dataclass

from server.pages.next_step import page
from server.pages.place import Place


@dataclass(frozen=True, slots=True)
class Tab:
    """A link; `current` is the value of its `aria-current`: "page", "true" on a page below it, or nothing."""

    title: str
    address: str
    current: str


EVERYBODY = {
    "challenge": "Overview",
    "challenge_data": "Data",
    "challenge_rules": "Rules",
    "leaderboard": "Leaderboard",
    "submit": "Submit",
}
MEMBERS = {"submissions": "My submissions", "team": "Team"}
ANSWERED_BY = {"join": "challenge_rules", "submission_edit": "submissions"}  # a form answers with its page
BELOW = {"submission": "submissions", "compare": "submissions"}


def tabs_of(place: Place, name: str) -> list[Tab]:
    """Return the tabs as seen from the page of this name."""
    name = ANSWERED_BY.get(name, name)
    titles = EVERYBODY | MEMBERS if place.membership else EVERYBODY
    return [
        Tab(title, page(tab, place), "page" if tab == name else "true" if tab == BELOW.get(name) else "")
        for tab, title in titles.items()
    ]
