"""The page that compares the entries of two teams on a leaderboard."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from server.leaderboards import queries
from server.leaderboards.queries import BoardRow, ShownBoard
from server.pages.challenge_context import find_context
from server.pages.submission.comparison import difference_of_entries
from server.pages.views.leaderboard import parse_query

SAME = "A and B are the same team. Choose a different one for A or B."
NO_ENTRY = "has no entry on this leaderboard. Enter the name of a team exactly as the leaderboard shows it."


@require_safe
def compare_entries(request: HttpRequest, slug: str) -> HttpResponse:
    """Compare the entries of the teams named in the query string; by default the viewer's and the one above it."""
    current = find_context(request, slug)
    phase, query = current.required_phase(), parse_query(request, current)
    board = queries.board(phase, split=query.split, viewer=request.user)
    names = [request.GET.get(letter, "").strip() for letter in "ab"]
    a, b = chosen_entries(board, names, team_id=current.team.pk if current.team else None)
    is_ladder = board.access.ladder  # Until the end, a ladder hides small differences, which a comparison would show.
    is_same = a is not None and b is not None and a.team_id == b.team_id
    comparable = a is not None and b is not None and not is_same and not is_ladder
    context = {
        "current": current,
        "now": current.now,
        "query": query,
        "board": board,
        "is_ladder": is_ladder,
        "choices": [
            (letter, title, one.team if one else name)
            for letter, title, one, name in zip("ab", "AB", (a, b), names, strict=True)
        ],
        "differences": [difference_of_entries(a, b, board, phase.declared_track)] if a and b and comparable else [],
        "missing": [name for name, one in zip(names, (a, b), strict=True) if name and one is None],
        "no_entry": NO_ENTRY,
        "same": SAME if is_same else "",
        "decimals": board.access.decimals,
    }
    return render(request, "compare/entries.html", context)


def chosen_entries(board: ShownBoard, names: list[str], *, team_id: int | None) -> list[BoardRow | None]:
    """Return the named entries. By default A is the viewer's entry, and B the one above it or, at the top, below it."""
    chosen = [board.row_named(name) if name else None for name in names]
    if all(names):
        return chosen
    own = board.index_of(team_id) or 0
    first = max(own - 1, 0)
    near = board.page(first, own + 2)
    defaults = [near[index - first] for index in (own, own - 1, own + 1) if 0 <= index - first < len(near)]
    for number, name in enumerate(names):
        if not name:
            chosen[number] = next((row for row in defaults if row not in chosen), None)
    return chosen
