"""The page that compares the entries of two teams on a leaderboard."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from server.leaderboards import queries
from server.leaderboards.queries import BoardRow, ShownBoard
from server.pages.challenge_context import find_context
from server.pages.leaderboard.query import parse_query
from server.pages.submission.comparison import difference_of_entries

SAME = "A and B are the same team. Choose two different teams."
NO_ENTRY = "has no entry on this leaderboard. Enter the name of a team exactly as the leaderboard shows it."


@require_safe
def compare_entries(request: HttpRequest, slug: str) -> HttpResponse:
    """Compare two entries of a leaderboard. By default, they are the viewer's entry and the entry above it."""
    current = find_context(request, slug)
    phase, query = current.required_phase(), parse_query(request, current)
    board = queries.board(phase, split=query.split, viewer=request.user)
    names = [request.GET.get(letter, "").strip() for letter in "ab"]
    a, b = chosen_entries(board, names, team_id=current.team.pk if current.team else None)
    # Until the phase ends, ladder feedback hides small differences, so no differences are shown.
    is_ladder = board.access.ladder
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
    """Return the leaderboard entries A and B that belong to the two team names.

    If the names are empty, A is the viewer's entry or, if there is none, the first entry. B is then the entry above A
    or, if A is the first entry, the entry below it.
    """
    chosen = [board.row_named(name) if name else None for name in names]
    if all(names):
        return chosen
    placed = board.row_and_index_of(team_id) if team_id else None
    own = placed[1] if placed else 0
    first = max(own - 1, 0)
    near = board.page(first, own + 2)
    defaults = [near[index - first] for index in (own, own - 1, own + 1) if 0 <= index - first < len(near)]
    for number, name in enumerate(names):
        if not name:
            chosen[number] = next((row for row in defaults if row not in chosen), None)
    return chosen
