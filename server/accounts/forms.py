"""What people type about their accounts."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from server.accounts.models import ApiToken, User
from server.accounts.names import BadName, clean_name, refuse_look_alike

TOKEN_DAYS = (7, 30, 90, 365)


class SignUpForm(forms.Form):
    """A name, an address, a password."""

    username = forms.CharField(
        max_length=150,
        help_text="Letters, digits and @ . + - _; shown to your team and to organizers.",
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}),
    )
    email = forms.EmailField(
        help_text="To set a new password when you need one.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    password = forms.CharField(
        strip=False,
        help_text="At least 8 characters; not only digits, and not one that many people use.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_username(self) -> str:
        try:
            name = clean_name(self.cleaned_data["username"])
        except BadName as error:
            raise ValidationError(str(error)) from None
        for check in User._meta.get_field("username").validators:
            check(name)
        try:
            refuse_look_alike(name, User.objects.values_list("username", flat=True).iterator())
        except BadName as error:
            raise ValidationError(str(error)) from None
        return name

    def clean_email(self) -> str:
        email: str = User.objects.normalize_email(self.cleaned_data["email"])
        if User.objects.filter(email__iexact=email).exists():
            raise ValidationError("There is an account with this address. Log in, or set a new password.")
        return email

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if password := cleaned.get("password"):
            someone = User(username=cleaned.get("username", ""), email=cleaned.get("email", ""))
            try:
                validate_password(password, someone)
            except ValidationError as error:
                self.add_error("password", error)
        return cleaned


class LogInForm(AuthenticationForm):
    """Name and password; a name is found in any letter case, as it is unique in any."""

    def clean_username(self) -> str:
        typed: str = self.cleaned_data["username"]
        return User.objects.filter(username__iexact=typed).values_list("username", flat=True).first() or typed


class TokenForm(forms.Form):
    """A new key for programs: what for, how much it may do, how long."""

    name = forms.CharField(
        max_length=80, help_text="Where you will use it.", widget=forms.TextInput(attrs={"placeholder": "laptop"})
    )
    scope = forms.ChoiceField(choices=ApiToken.Scope.choices, initial=ApiToken.Scope.SUBMIT, label="It may")
    days = forms.TypedChoiceField(
        choices=[(days, f"{days} days") for days in TOKEN_DAYS], coerce=int, initial=90, label="It ends after"
    )
