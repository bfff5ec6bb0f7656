"""Every setting of the service, read from the environment once; a default is what production may run with."""

import json
import os
import secrets
from pathlib import Path
from urllib.parse import urlsplit

from server.runtime.environment import Environment, unusable_folder

BASE_DIR = Path(__file__).resolve().parent.parent
env = Environment()
Environment.read_env(BASE_DIR / ".env")  # for developers; a real variable wins

# Where the service keeps its state, and how it is reached
PODIUM_HOME = env.folder("PODIUM_HOME", default=BASE_DIR / "var")
PODIUM_PORT = env.port("PODIUM_PORT", default=8000)
PODIUM_BIND = env.str("PODIUM_BIND", default="127.0.0.1")
PODIUM_URL = env.str("PODIUM_URL", default=f"http://localhost:{PODIUM_PORT}")
PROXIES = env.int("PROXIES", default=0)  # how many stand before us and may be believed about addresses
RUNTIME_FILE = PODIUM_HOME / "runtime.json"
FILE_UPLOAD_TEMP_DIR = PODIUM_HOME / "incoming"


def secret_key() -> str:
    """Return the key of this installation; made once, readable by its owner only."""
    path = PODIUM_HOME / "secret_key"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text()
    with os.fdopen(descriptor, "w") as file:
        file.write(key := secrets.token_urlsafe(50))
    return key


def running() -> dict[str, str]:
    """Return what the running service tells of itself: where it is reached and where its Redis is.

    Nothing where none runs, and where the note is damaged: the next `manage.py up` writes it anew.
    """
    try:
        note = json.loads(RUNTIME_FILE.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return {name: str(value) for name, value in note.items()} if isinstance(note, dict) else {}


DEBUG = env.bool("DEBUG", default=False)
try:
    FILE_UPLOAD_TEMP_DIR.mkdir(mode=0o700, exist_ok=True)
    SECRET_KEY: str = env.str("SECRET_KEY", default="") or secret_key()
    RUNNING = running()
except OSError as error:
    raise unusable_folder("PODIUM_HOME", PODIUM_HOME, error) from error
REDIS_URL: str = env.str("REDIS_URL", default="") or RUNNING.get("redis_url", "")
HTTPS = PODIUM_URL.startswith("https://")
ALLOWED_HOSTS = env.list(
    "ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]", urlsplit(PODIUM_URL).hostname or "localhost"]
)
CSRF_TRUSTED_ORIGINS = [PODIUM_URL]
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", default=31_536_000 if HTTPS else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_AGE = 14 * 24 * 3600
CSRF_FAILURE_VIEW = "server.pages.views.errors.csrf_failure"

INSTALLED_APPS = [
    "server.audit",
    "server.accounts",
    "server.challenges",
    "server.submissions",
    "server.leaderboards",
    "server.organize",
    "server.pages",
    "server.api",
    "server.runtime",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "whitenoise.runserver_nostatic",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "server.pages.middleware.RequestIdMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "server.api.middleware.BodySizeMiddleware",  # before whatever reads a body
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "server.pages.middleware.ContentSecurityPolicyMiddleware",
    "server.pages.middleware.RefusalMiddleware",
]
ROOT_URLCONF = "server.urls"
WSGI_APPLICATION = "server.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "server" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# Rows
# Closing SQLite's last connection costs as much as a small scoring
KEPT_OPEN = {
    "CONN_MAX_AGE": 60,
    "CONN_HEALTH_CHECKS": True,
}
DATABASES = {
    "default": KEPT_OPEN | env.database("DATABASE_URL", default=f"sqlite:///{PODIUM_HOME / 'podium.sqlite3'}"),
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # IMMEDIATE and WAL: writers wait for each other instead of failing. A power cut may drop the last commits.
    # Whose turn it is, SQLite leaves to chance: of 64,000 writes by 32 writers at once the unluckiest waited 18 s, and
    # where other programs took most of the machine, one more than 30 s.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 60,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }

# Files
MEDIA_ROOT = PODIUM_HOME / "uploads"
MEDIA_URL = "/no-upload-has-an-address/"
TRUTH_ROOT = PODIUM_HOME / "truths"
FILE_UPLOAD_HANDLERS = ["server.submissions.arriving.Arriving"]
FILE_UPLOAD_PERMISSIONS = 0o600
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "build" / "static"
STATICFILES_DIRS = [BASE_DIR / "server" / "static", BASE_DIR / "build" / "assets"]
STORAGES = {
    "default": {"BACKEND": "server.submissions.storage.DurableStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage",
        # often built by one user and served by another
        "OPTIONS": {"file_permissions_mode": 0o644, "directory_permissions_mode": 0o755},
    },
}

# People
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
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"
EMAIL_BACKEND = env.str("EMAIL_BACKEND", default="django.core.mail.backends.console.EmailBackend")
EMAIL_HOST = env.str("EMAIL_HOST", default="localhost")
EMAIL_PORT = env.int("EMAIL_PORT", default=25)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", default="")
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", default="")
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", default=False)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default=f"podium@{urlsplit(PODIUM_URL).hostname or 'localhost'}")
LOGIN_ATTEMPTS_PER_MINUTE = env.int("LOGIN_ATTEMPTS_PER_MINUTE", default=10)
API_TOKEN_DAYS = env.int("API_TOKEN_DAYS", default=365)

# Language and time
LANGUAGE_CODE = "en"
USE_TZ = True
TIME_ZONE = "UTC"

# API
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "server.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["server.api.authentication.LoggedIn", "server.api.authentication.TokenMay"],
    "DEFAULT_PARSER_CLASSES": ["server.api.parsers.PlainJson"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "server.api.renderers.ToldOrAccepted",
    "DEFAULT_THROTTLE_CLASSES": ["server.api.throttling.PerMinute"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "server.api.pagination.Pages",
    "EXCEPTION_HANDLER": "server.api.errors.problem",
}
API_REQUESTS_PER_MINUTE = env.int("API_REQUESTS_PER_MINUTE", default=1200)
API_ANONYMOUS_REQUESTS_PER_MINUTE = env.int("API_ANONYMOUS_REQUESTS_PER_MINUTE", default=600)
SPECTACULAR_SETTINGS = {
    "TITLE": "Podium",
    "DESCRIPTION": "Submit predictions, follow their scoring, read leaderboards.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "COMPONENT_SPLIT_REQUEST": True,  # what is sent as a file is not what is read as an address
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "server.api.schema.to_the_letter",
    ],
    "SCHEMA_PATH_PREFIX": "/api/v1/",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "validatorUrl": None},
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

# Limits of a submission, told before the first byte
DATA_UPLOAD_MAX_MEMORY_SIZE = 2**20  # of a form without a file, and of any body where no file is taken
UPLOAD_MAX_BYTES = env.int("UPLOAD_MAX_BYTES", default=2 * 2**30)
DECOMPRESSED_MAX_BYTES = env.int("DECOMPRESSED_MAX_BYTES", default=8 * 2**30)
DECOMPRESSED_MAX_RATIO = env.int("DECOMPRESSED_MAX_RATIO", default=200)
LINE_MAX_BYTES = env.int("LINE_MAX_BYTES", default=64 * 2**20)
JSON_MAX_BYTES = env.int("JSON_MAX_BYTES", default=256 * 2**20)  # read whole, at ten times its size in memory
NUMBER_MAX_CHARACTERS = env.int("NUMBER_MAX_CHARACTERS", default=64)
TEXT_MAX_CHARACTERS = env.int("TEXT_MAX_CHARACTERS", default=256)
SUBMISSION_MAX_BOXES = env.int("SUBMISSION_MAX_BOXES", default=50_000_000)
SUBMISSION_MAX_IMAGES = env.int("SUBMISSION_MAX_IMAGES", default=2_000_000)

# How long files are kept, and how many
TEAM_STORAGE_BYTES = env.int("TEAM_STORAGE_BYTES", default=20 * 2**30)  # of a team in its challenge
UNSCORED_FILE_DAYS = env.int("UNSCORED_FILE_DAYS", default=7)  # rejected, failed or cancelled; the row stays
QUARANTINE_DAYS = env.int("QUARANTINE_DAYS", default=30)  # of files that no row knows

# Scoring
LEASE_SECONDS = env.int("LEASE_SECONDS", default=60)
HEARTBEAT_SECONDS = env.int("HEARTBEAT_SECONDS", default=15)
SWEEP_SECONDS = env.int("SWEEP_SECONDS", default=5)
RESEND_SECONDS = env.int("RESEND_SECONDS", default=30)
EVALUATION_ATTEMPTS = env.int("EVALUATION_ATTEMPTS", default=3)
EVALUATION_SECONDS = env.int("EVALUATION_SECONDS", default=1800)  # of CPU time; beyond it the file is at fault
# By the clock; only what hangs takes so long, and that is the platform's fault
EVALUATION_WALL_SECONDS = env.int("EVALUATION_WALL_SECONDS", default=4 * EVALUATION_SECONDS)
TEAM_EVALUATIONS_AT_ONCE = env.int("TEAM_EVALUATIONS_AT_ONCE", default=2)
# Unpacked; such a file never waits for large ones
SMALL_FILE_MAX_BYTES = env.int("SMALL_FILE_MAX_BYTES", default=2**20)
INTERVAL_REPLICATES = env.int("INTERVAL_REPLICATES", default=1000)  # 0: no intervals
EXPLANATION_MAX_BYTES = env.int("EXPLANATION_MAX_BYTES", default=256 * 2**20)  # decompressed; 0: no explanations
WORKER_MEMORY_BYTES = env.int("WORKER_MEMORY_BYTES", default=6 * 2**30)  # what one scoring may add to its process
WORKER_PROCESSES = env.int("WORKER_PROCESSES", default=os.cpu_count() or 1)
# Large files that one worker scores at once; 0: it takes small ones only
WORKER_LARGE_FILES_AT_ONCE = env.int("WORKER_LARGE_FILES_AT_ONCE", default=max(1, WORKER_PROCESSES - 1))
STOP_SECONDS = env.int("STOP_SECONDS", default=20)  # what a running scoring gets to finish when the worker is stopped
WEB_PROCESSES = env.int("WEB_PROCESSES", default=2)
WEB_THREADS = env.int("WEB_THREADS", default=8)

# What all web processes count together (requests a minute); nothing that is missed when it is lost.
CACHES: dict[str, dict[str, object]] = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
if REDIS_URL:
    CACHES["default"] = {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "podium",
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    }

# Celery wakes the worker; the database remembers. A killed task is restored at once instead of after 100 s.
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": EVALUATION_WALL_SECONDS + 600,
    "unacked_restore_interval": 1,
    "unacked_restore_throttle": 1,
    "sep": ":",  # between a queue's name and a priority: `submissions.queue` counts what waits there
    "socket_timeout": 10,
    "socket_connect_timeout": 5,
    # sending tries twice and gives up at once: an upload does not wait for a broker that is down
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0,
}
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SOFT_TIME_LIMIT = EVALUATION_WALL_SECONDS
CELERY_TASK_TIME_LIMIT = EVALUATION_WALL_SECONDS + 60
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CONCURRENCY = WORKER_PROCESSES
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_MAX_RETRIES = None

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="INFO")},
}
