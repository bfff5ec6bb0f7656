"""Commands that pages offer for copying. They install the `podium` program and submit a file to a phase."""

from django.conf import settings
from django.urls import reverse

from server.challenges.models import Phase


def install_command() -> str:
    """Return the command that installs the version of the program that this server uses for scoring."""
    return f"pip install {settings.PODIUM_URL}{reverse('program')}"


def submit_command(phase: Phase, *, joins: bool) -> str:
    """Return the commands that log in and submit a file with the `podium` program.

    `joins` is true if the viewer must join the challenge first.
    """
    slug = phase.challenge.slug
    join = f"podium join {slug} --accept-rules\n" if joins else ""
    submit = f'podium submit {slug} --phase {phase.slug} -f {file_name(phase)} -m "first try" --wait'
    return f"podium login {settings.PODIUM_URL}\n{join}{submit}"


def upload_command(phase: Phase, *, joins: bool) -> str:
    """Return the commands that submit a file with curl. They read the token from an environment variable."""
    slug = phase.challenge.slug
    address = reverse("api_submissions", args=[slug, phase.slug])
    join = (
        'curl -H "Authorization: Bearer $PODIUM_TOKEN" -H "Content-Type: application/json" \\\n'
        f"    -d '{{\"accept_rules\": true}}' {settings.PODIUM_URL}{reverse('api_join', args=[slug])}\n"
    )
    return (join if joins else "") + (
        'curl -H "Authorization: Bearer $PODIUM_TOKEN" \\\n'
        f'    -F file=@{file_name(phase)} -F note="first try" \\\n'
        f"    {settings.PODIUM_URL}{address}"
    )


def file_name(phase: Phase) -> str:
    """Return the name that the commands use for the predictions file."""
    return f"predictions.{phase.declared_track.form.suffix}"
