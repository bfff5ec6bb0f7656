"""Settings for accounts: passwords, login, email and two-factor authentication."""

from server.runtime.environment import env

AUTH_USER_MODEL = "accounts.User"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"
EMAIL_BACKEND = env.text("EMAIL_BACKEND", default="django.core.mail.backends.console.EmailBackend")
EMAIL_HOST = env.host("EMAIL_HOST", default="localhost")
EMAIL_PORT = env.port("EMAIL_PORT", default=25)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = env.switch("EMAIL_USE_TLS", default=False)
EMAIL_TIMEOUT = 10
# The email backends that do not deliver email. With any other backend, the default of `CONFIRM_EMAIL` is true: a user
# must confirm the email address before using the account.
SILENT_EMAIL_BACKENDS = {
    f"django.core.mail.backends.{name}.EmailBackend" for name in ("console", "dummy", "filebased", "locmem")
}
CONFIRM_EMAIL = env.switch("CONFIRM_EMAIL", default=EMAIL_BACKEND not in SILENT_EMAIL_BACKENDS)
LOGIN_ATTEMPTS_PER_MINUTE = env.number("LOGIN_ATTEMPTS_PER_MINUTE", default=10, high=1_000_000)
SIGN_UPS_PER_DAY = env.number("SIGN_UPS_PER_DAY", default=20, high=1_000_000)
AUTHENTICATION_BACKENDS = ["server.accounts.sessions.AccountBackend"]
SESSION_ENGINE = "server.accounts.sessions"
ACCOUNT_ADAPTER = "server.accounts.adapter.AccountAdapter"
ACCOUNT_FORMS = {"login": "server.accounts.forms.LogInForm", "signup": "server.accounts.forms.SignUpForm"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*"]
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if CONFIRM_EMAIL else "none"
# Confirming an email address logs the user in only in the browser that was used to sign up.
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True
ACCOUNT_PREVENT_ENUMERATION = "strict"
ACCOUNT_EMAIL_SUBJECT_PREFIX = "Podium: "
ACCOUNT_SESSION_REMEMBER = True
# In a rate limit, "ip" stands for an IPv4 address or an IPv6 network (/48), and "key" for the username or email address
# that was entered.
ACCOUNT_RATE_LIMITS = {
    "login": "100/m/ip",
    "login_failed": f"{LOGIN_ATTEMPTS_PER_MINUTE}/m/key,{3 * LOGIN_ATTEMPTS_PER_MINUTE}/m/ip",
    "signup": "20/m/ip,200/d/ip",
    "signed_up": f"{SIGN_UPS_PER_DAY}/d/ip",
    "reset_password": "10/m/ip,100/d/ip,5/h/key",
    "reset_password_from_key": "20/m/ip",
    "change_password": f"{LOGIN_ATTEMPTS_PER_MINUTE}/m/user",
    "confirm_email": "1/3m/key",
    "second_factor": "100/d/key",  # Authentication codes have only six digits, so guesses are limited per account.
    "reauthenticate": f"{LOGIN_ATTEMPTS_PER_MINUTE}/m/user",
    "export": "10/h/user",
    "device_start": "10/m/ip,200/d/ip",
    "device_code": "20/m/user,60/m/ip",
}
MFA_ADAPTER = "server.accounts.two_factor.TwoFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_FORMS = {
    "authenticate": "server.accounts.two_factor.CodeForm",
    "reauthenticate": "server.accounts.two_factor.CodeAgainForm",
}
MFA_TOTP_ISSUER = "Podium"
# With a tolerance of 1, django-allauth would also accept the authentication codes of the previous and the next time
# step. It remembers a used code only for the length of one time step, so it would accept such a code twice.
MFA_TOTP_TOLERANCE = 0
