"""Shell commands that users can copy from pages to install the `podium` program and submit a file to a phase."""

from django.conf import settings
from django.urls import reverse

from server.challenges.models import Phase


def install_command() -> str:
    """Return the shell command that installs the same version of the `podium` program that this server runs."""
    return f"pip install {settings.PODIUM_URL}{reverse('program')}"


def submit_command(phase: Phase, *, joins: bool) -> str:
    """Return the shell commands that log in and submit a file with the `podium` program.

    If `joins` is true, the commands also join the challenge.
    """
    slug = phase.challenge.slug
    join = f"podium join {slug} --accept-rules\n" if joins else ""
    submit = f'podium submit {slug} --phase {phase.slug} -f {file_name(phase)} -m "first try" --wait'
    return f"podium login {settings.PODIUM_URL}\n{join}{submit}"


def upload_command(phase: Phase, *, joins: bool) -> str:
    """Return the curl commands that submit a file. They read the API token from the variable PODIUM_TOKEN."""
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
    """Return an example name of a predictions file for the shell commands shown on pages."""
    return f"predictions.{phase.declared_track.form.suffix}"
