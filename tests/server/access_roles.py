"""The user roles for which `access_table.py` lists the expected HTTP statuses."""

ROLES = (
    "nobody",
    "stranger",
    "member",
    "mate",
    "rival",
    "organizer",
    "editor",
    "viewer",
    "foreign",
    "staff",
    "superuser",
)
GROUPS = {
    **{role: (role,) for role in ROLES},
    "team": ("member", "mate"),  # Users with these roles belong to the team that made the submission.
    "teams": ("member", "mate", "rival"),  # Users with these roles are members of teams.
    # The user with the role "organizer" owns the challenge. The user with the role "foreign" is not in this group,
    # because that user owns a different challenge and has no rights in this one.
    "organizers": ("organizer", "editor", "viewer", "staff", "superuser"),
    "editors": ("organizer", "editor", "staff", "superuser"),
    "owners": ("organizer", "staff", "superuser"),
    "employees": ("staff", "superuser"),  # Users with the role "staff" have no permissions in the admin.
}
Answers = dict[str, int]
Methods = dict[str, Answers]


def who(rest: int, **groups: int) -> Answers:
    """Return the expected HTTP status for each user role: `who(404, nobody=302, team=200)`.

    The first argument is the status for roles that belong to none of the named groups. If a role is in several
    groups, the last of these groups determines its status.
    """
    named = {role: status for group, status in groups.items() for role in GROUPS[group]}
    return {role: named.get(role, rest) for role in ROLES}


OTHERS = ("PUT", "PATCH", "DELETE")


def door(staff: int, superuser: int | None = None) -> Methods:
    """Return the expected HTTP statuses of an admin page, by method and user role.

    Users who are not staff are redirected to the login page.
    """
    answers = who(302, staff=staff, superuser=staff if superuser is None else superuser)
    return dict.fromkeys(("GET", "POST", "PUT", "PATCH", "DELETE"), answers)


def model(name: str, *, add: int = 403, change: int = 403) -> dict[str, Methods]:
    """Return the expected HTTP statuses of a model's admin pages, which superusers may read and other staff may not."""
    read = door(403, 200)
    return {
        f"admin/{name}/": read,
        f"admin/{name}/add/": door(403, add),
        f"admin/{name}/<path:object_id>/history/": read,
        f"admin/{name}/<path:object_id>/delete/": door(403),
        f"admin/{name}/<path:object_id>/change/": {**read, "POST": door(403, change)["POST"]},
        f"admin/{name}/<path:object_id>/": door(302),
    }
