"""The tabs of a challenge's pages."""

from dataclasses import dataclass

from server.pages.challenge_context import ChallengeContext, JoinState


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab in the navigation of a challenge's pages.

    `current` is the value of the HTML attribute `aria-current`: "page" on the tab's own page, "true" on a page below
    it, and empty on all other pages.
    """

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
ORGANIZER_TABS = {"organize": "Organize"}
MEMBER_TABS = {"submissions": "My submissions", "team": "Team"}
# The "Team" tab is shown to everyone who could join a team, because its page also lists invitations.
WITHOUT_TEAM_TABS = {"team": "Team"}
# Maps the URL name of a form to the tab that is highlighted when the form is shown again with errors.
FORM_TABS = {
    "join": "challenge_rules",
    "submission_edit": "submissions",
    **dict.fromkeys(("team_rename", "team_profile", "team_shown", "team_invite", "team_link", "team_ask"), "team"),
}
PARENT_TABS = {
    **dict.fromkeys(("team_leave", "team_remove", "team_captain", "team_merge", "team_proposal"), "team"),
    "team_invitation": "team",
    "changes": "leaderboard",
    "public_team": "leaderboard",
    "submission": "submissions",
    "compare": "submissions",
    "compare_entries": "leaderboard",
    "leaderboard_history": "leaderboard",
}
ORGANIZER_ROUTES = "organize_"  # The URL names of all pages under the "Organize" tab begin with this prefix.


def tabs_of(current: ChallengeContext, route: str) -> list[Tab]:
    """Return the tabs that the viewer sees on a challenge's page. `route` is the URL name of the page."""
    route = FORM_TABS.get(route, route)
    titles = PUBLIC_TABS | (MEMBER_TABS if current.membership else {})
    if current.join_state == JoinState.ORGANIZER:
        del titles["submit"]
    if current.may_be_invited:
        titles |= WITHOUT_TEAM_TABS
    if current.is_organizer:
        titles |= ORGANIZER_TABS

    parent = "organize" if route.startswith(ORGANIZER_ROUTES) else PARENT_TABS.get(route)

    def aria_current(tab: str) -> str:
        if tab == route:
            return "page"
        return "true" if tab == parent else ""

    return [Tab(title, current.url(tab), aria_current(tab)) for tab, title in titles.items()]
