"""The tabs of a challenge's pages."""

from dataclasses import dataclass

from server.pages.challenge_context import ChallengeContext


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab. `current` is its `aria-current`: "page" on the tab's page, "true" on a page below it, otherwise empty."""

    title: str
    address: str
    current: str


PUBLIC_TABS = {
    "challenge": "Overview",
    "challenge_data": "Data",
    "challenge_rules": "Rules",
    "leaderboard": "Leaderboard",
    "submit": "Submit",
}
MEMBER_TABS = {"submissions": "My submissions", "team": "Team"}
FORM_TABS = {
    "join": "challenge_rules",
    "submission_edit": "submissions",
}  # routes of forms that show the page of this tab again if they have errors
PARENT_TABS = {"submission": "submissions", "compare": "submissions", "compare_entries": "leaderboard"}


def tabs_of(current: ChallengeContext, route: str) -> list[Tab]:
    """Return the tabs for the page of this route."""
    route = FORM_TABS.get(route, route)
    titles = PUBLIC_TABS | MEMBER_TABS if current.membership else PUBLIC_TABS

    def aria_current(tab: str) -> str:
        if tab == route:
            return "page"
        return "true" if tab == PARENT_TABS.get(route) else ""

    return [Tab(title, current.url(tab), aria_current(tab)) for tab, title in titles.items()]
