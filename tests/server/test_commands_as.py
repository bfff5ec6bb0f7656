"""When a management command changes data, the audit log records the user given by the option `--as`."""

import pytest
from django.core.management import get_commands, load_command_class

from server.accounts.audited_command import AuditedCommand

# These commands have no `--as` option: they run the service, only read data, create the demo, or clean up
# automatically.
WITHOUT_ACTOR = {"up", "demo", "sweep", "doctor", "jobs", "ready", "storage"}
LATER = {"restore"}  # The `restore` command looks up the user only after it has restored the database.
OURS = {name: app for name, app in get_commands().items() if str(app).startswith("server.")}


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_command_that_acts_accepts_an_actor(name: str) -> None:
    command = load_command_class(OURS[name], name)
    assert isinstance(command, AuditedCommand) == (name not in WITHOUT_ACTOR | LATER)
    options = {
        option for action in command.create_parser("manage.py", name)._actions for option in action.option_strings
    }
    assert ("--as" in options) == (name not in WITHOUT_ACTOR)
