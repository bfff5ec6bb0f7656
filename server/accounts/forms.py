"""Forms for login, sign-up, the profile and API tokens."""

import unicodedata
from typing import Any, ClassVar

from allauth.account.forms import LoginForm
from allauth.account.forms import SignupForm as AllauthSignUpForm
from allauth.core import ratelimit
from django import forms
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse

from evaluator.texts import BadName, clean_name
from server.accounts.countries import COUNTRIES
from server.accounts.models import ApiToken, User
from server.accounts.services import record_account
from server.errors import Refused

NAME_TAKEN_MEANWHILE = "Someone else has just taken this name. Go back and choose another name."
DAY_SECONDS = 24 * 3600
TOKEN_DAYS = (7, 30, 90, 365)


class LogInForm(LoginForm):
    """The login form, with username and password.

    The letter case and character width of the username are ignored, because they do not distinguish accounts.
    """

    def clean_login(self) -> str:
        return unicodedata.normalize("NFKC", super().clean_login()).strip()


class SignUpForm(AllauthSignUpForm):
    """The sign-up form, with username, email address and password.

    The response never reveals whether an account with the address already exists.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields[
            "username"
        ].help_text = "Use only letters, digits and @ . + - _. Your team and the organizers can see your username."
        self.fields["email"].help_text = "If you forget your password, we send a reset link to this address."

    def validate_unique_email(self, value: str) -> str:
        """Accept any email address, even if another account uses it.

        If another account has confirmed the address, the new account cannot confirm it; see `server.accounts.adapter`.
        """
        return value

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        if not ratelimit.consume(request, action="signed_up"):
            detail = "Too many accounts were created from your network today. Try again tomorrow."
            raise Refused("rate_limited", detail, retry_after=DAY_SECONDS)
        answer: tuple[User | None, HttpResponse | None] = super().try_save(request)
        return answer

    def save(self, request: HttpRequest) -> User:
        try:
            with transaction.atomic():
                user: User = super().save(request)
                record_account(user)
        except IntegrityError:
            # An IntegrityError means that somebody else has taken the username since the form was checked.
            raise Refused("invalid", NAME_TAKEN_MEANWHILE) from None
        return user


class TokenForm(forms.Form):
    """The form for a new API token, with its name, scope and expiry."""

    name = forms.CharField(
        max_length=80,
        help_text="The program or device that will use the token.",
        widget=forms.TextInput(attrs={"placeholder": "laptop"}),
    )
    scope = forms.ChoiceField(choices=ApiToken.Scope.choices, initial=ApiToken.Scope.SUBMIT, label="Scope")
    days = forms.TypedChoiceField(
        choices=[(days, f"{days} days") for days in TOKEN_DAYS], coerce=int, initial=90, label="Expires after"
    )


class ProfileForm(forms.ModelForm):
    """The form for a user's public profile. Every field is optional."""

    country = forms.ChoiceField(
        choices=[("", "–"), *COUNTRIES.items()],
        required=False,
        help_text="Leaderboards can be filtered by country. Your country counts only for teams whose public page shows "
        "your name.",
    )

    class Meta:
        model = User
        fields = ("display_name", "affiliation", "country")
        help_texts: ClassVar = {
            "display_name": "Your teammates see this name next to your username. It also appears on public team pages "
            "that name you.",
            "affiliation": "For example, a university or a company. It appears on public team pages that name you.",
        }
        widgets: ClassVar = {
            "display_name": forms.TextInput({"autocomplete": "name"}),
            "affiliation": forms.TextInput({"autocomplete": "organization"}),
        }

    def clean_display_name(self) -> str:
        return self.checked("display_name", 80)

    def clean_affiliation(self) -> str:
        return self.checked("affiliation", 120)

    def checked(self, field: str, most: int) -> str:
        """Return the normalized text of an optional profile field.

        Raises ValidationError if the text is invalid or has more than `most` characters.
        """
        text = self.cleaned_data[field]
        try:
            return clean_name(text, most) if text else ""
        except BadName as error:
            raise forms.ValidationError(str(error)) from None
