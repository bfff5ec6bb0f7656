"""All settings of the service. They are read from the environment once, and defaults are safe for production."""

from urllib.parse import urlsplit

from server.account_settings import *  # noqa: F403  (part of the settings)
from server.limits import *  # noqa: F403
from server.limits import EVALUATION_WALL_SECONDS, WORKER_PROCESSES
from server.runtime.broker import celery_url
from server.runtime.environment import BASE_DIR, env, unusable_folder, usable_subfolder
from server.runtime.installation import key_in, running

# The data folder and the URL of the service
PODIUM_HOME = env.folder("PODIUM_HOME", default=BASE_DIR / "var")
PODIUM_PORT = env.port("PODIUM_PORT", default=8000)
PODIUM_BIND = env.bind("PODIUM_BIND", default="127.0.0.1")
PODIUM_URL = env.site("PODIUM_URL", default=f"http://localhost:{PODIUM_PORT}")
# Number of the operator's own proxies in front of the service, whose X-Forwarded-For entries are trusted
PROXIES = env.number("PROXIES", default=0, low=0, high=100)
# Who may read /metrics: clients with this token, and clients at these addresses. By default, nobody may read it.
METRICS_TOKEN = env.key("METRICS_TOKEN")
METRICS_ADDRESSES = env.networks("METRICS_ADDRESSES")
RUNTIME_FILE = PODIUM_HOME / "runtime.json"
FILE_UPLOAD_TEMP_DIR = PODIUM_HOME / "incoming"

DEBUG = env.switch("DEBUG", default=False)
try:
    usable_subfolder(FILE_UPLOAD_TEMP_DIR)
    usable_subfolder(PODIUM_HOME / "logs")
    SECRET_KEY: str = env.key("SECRET_KEY") or key_in(PODIUM_HOME / "secret_key")
    AUDIT_KEY: str = env.key("AUDIT_KEY") or key_in(  # The key of the audit log must be the same on all machines.
        PODIUM_HOME / "audit_key", used_for=PODIUM_HOME / "audit_head"
    )
    # The key that signs exported results must be the same on all machines of the service.
    SIGNING_KEY: str = env.key("SIGNING_KEY") or key_in(PODIUM_HOME / "signing_key")
    # Earlier keys, which still verify sessions and decrypt two-factor secrets. Nothing new is signed with them.
    SECRET_KEY_FALLBACKS = env.keys("SECRET_KEY_FALLBACKS")
    RUNNING = running(RUNTIME_FILE)
except OSError as error:
    raise unusable_folder("PODIUM_HOME", PODIUM_HOME, error) from error
REDIS_URL: str = env.broker("REDIS_URL") or RUNNING.get("redis_url", "")
HTTPS = PODIUM_URL.startswith("https://")
OWN_HOST = urlsplit(PODIUM_URL).netloc.removesuffix(f":{urlsplit(PODIUM_URL).port}")
ALLOWED_HOSTS = [*env.hosts("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"]), OWN_HOST.lower()]
CSRF_TRUSTED_ORIGINS = [PODIUM_URL]
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
# Proxies and Prometheus request these paths without TLS, directly from a web host.
SECURE_REDIRECT_EXEMPT = [r"^(livez|healthz|readyz|metrics)$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = env.number("SECURE_HSTS_SECONDS", default=31_536_000 if HTTPS else 0, low=0, high=315_360_000)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_AGE = 14 * 24 * 3600
CSRF_FAILURE_VIEW = "server.pages.views.errors.csrf_failure"

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "server.audit",
    "server.accounts",
    "server.maintenance",
    "server.challenges",
    "server.submissions",
    "server.teams",
    "server.leaderboards",
    "server.organize",
    "server.notices",
    "server.pages",
    "server.api",
    "server.runtime",
    "rest_framework",
    "drf_spectacular",
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
    "server.middleware.RequestIdMiddleware",
    "server.middleware.CompressionMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    # This middleware limits the size of request bodies, so it must come before any middleware that reads them.
    "server.middleware.BodySizeMiddleware",
    "server.middleware.MaintenanceMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "server.accounts.sessions.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "server.middleware.ContentSecurityPolicyMiddleware",
    "server.pages.middleware.HiddenCharactersMiddleware",
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

# Database connections are kept open after a request. When the last connection to an SQLite database is closed, SQLite
# does work that takes as long as scoring a small file.
PERSISTENT = {
    "CONN_MAX_AGE": 60,
    "CONN_HEALTH_CHECKS": True,
}
DATABASES = {
    "default": PERSISTENT | env.database("DATABASE_URL", default=f"sqlite:///{PODIUM_HOME / 'podium.sqlite3'}"),
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # With IMMEDIATE and WAL, writers wait for each other instead of failing. With synchronous=NORMAL, a power cut may
    # lose the last commits. The timeout is long because SQLite does not queue writers: of 64,000 writes by 32
    # concurrent writers, the slowest waited 18 s, and more than 30 s while other programs kept the machine busy. The
    # page cache is 500 kB instead of 2 MB, because every thread of a web process has its own, and the operating system
    # caches the file anyway. Temporary tables are kept in memory, because SQLite creates one for each list of more than
    # two keys, and creating it in a file takes three times as long as the rest of the statement.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 60,
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-500; PRAGMA temp_store=MEMORY;"
        ),
    }

MEDIA_ROOT = PODIUM_HOME / "uploads"
MEDIA_URL = "/no-upload-has-an-address/"
TRUTH_ROOT = PODIUM_HOME / "truths"
# The object store that is used instead of the folders for uploads and ground truths, or None
OBJECT_STORE = env.object_store("STORAGE_URL")
FILE_UPLOAD_HANDLERS = ["server.submissions.upload_handler.HashingUploadHandler"]
FILE_UPLOAD_PERMISSIONS = 0o600
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "build" / "static"
STATICFILES_DIRS = [
    BASE_DIR / "server" / "static",
    BASE_DIR / "evaluator" / "report_page" / "static",
    BASE_DIR / "build" / "assets",
]
STORAGES = {
    "default": {"BACKEND": "server.submissions.storage.DurableStorage"}
    if OBJECT_STORE is None
    else {"BACKEND": "server.stored_files.objects.ObjectStorage", "OPTIONS": {"folder": "uploads"}},
    "staticfiles": {
        "BACKEND": "server.runtime.static_files.StaticFiles",
        # All users of the machine may read static files, which are often built by one user and served by another.
        "OPTIONS": {"file_permissions_mode": 0o644, "directory_permissions_mode": 0o755},
    },
}

DEFAULT_FROM_EMAIL = env.mail_address("DEFAULT_FROM_EMAIL", default=f"podium@{OWN_HOST}")

LANGUAGE_CODE = "en"
USE_I18N = (
    False  # Podium has only one language, and translating each value would take 6% of the time that a page takes.
)
USE_TZ = True
TIME_ZONE = "UTC"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "server.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["server.api.authentication.LoggedIn", "server.api.authentication.TokenHasScope"],
    "DEFAULT_PARSER_CLASSES": ["server.api.parsers.Utf8JsonParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "server.api.renderers.FormatNegotiation",
    "DEFAULT_THROTTLE_CLASSES": ["server.api.throttling.RequestsPerMinute"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "server.api.pagination.Pages",
    "EXCEPTION_HANDLER": "server.api.errors.handle_exception",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Podium",
    "DESCRIPTION": "Submit predictions, follow their scoring, and read leaderboards.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "COMPONENT_SPLIT_REQUEST": True,  # In the API schema, a file is bytes in a request but a URL in a response.
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "server.api.schema.add_input_rules",
        "server.api.schema.add_summaries_and_examples",
    ],
    "SCHEMA_PATH_PREFIX": "/api/v1/",
    "SERVE_INCLUDE_SCHEMA": False,
}

# Login attempts and sign-ups are counted in the database, so that their limits apply without Redis and across all web
# processes. Requests to the API are counted in Redis, because losing these counts does no harm.
OBJECTS: dict[str, object] = {"BACKEND": "server.memory_cache.MemoryCache", "OPTIONS": {"MAX_ENTRIES": 32}}
CACHES: dict[str, dict[str, object]] = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "podium_cache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    },
    "requests": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    "status": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "status"},
    # Each web process caches rendered parts of leaderboards (up to about 200 kB each), their history before today, and
    # sizes and sorted scores of past leaderboards (8 bytes for each team).
    **{name: OBJECTS | {"LOCATION": name} for name in ("boards", "history", "past")},
}
if REDIS_URL:
    CACHES["requests"] = {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "podium",
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    }

# Celery messages only wake the worker; the jobs are in the database. Because the two `unacked_restore` settings below
# are low, the message for a killed task is delivered again immediately instead of after 100 s.
CELERY_BROKER_URL = celery_url(REDIS_URL)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": EVALUATION_WALL_SECONDS + 600,
    "unacked_restore_interval": 1,
    "unacked_restore_throttle": 1,
    # The separator between the name of a queue and a priority. `submissions.queue` needs it to count messages.
    "sep": ":",
    "socket_timeout": 10,
    "socket_connect_timeout": 5,
    # Celery tries to send a message at most twice, without a pause, so that uploads do not wait if the broker is down.
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
# By default, Celery closes the database connection before and after each task. Opening a new one takes a tenth of the
# time that a worker needs for a small file. Therefore only `worker.renew_connection` closes the connection, if it is
# broken or older than CONN_MAX_AGE.
CELERY_DB_REUSE_MAX = 10**9

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        # `manage.py verify_audit` parses log lines in this format.
        "line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "console": {"()": "server.logs.formatter"},
    },
    "filters": {"without_path": {"()": "server.logs.WithoutPath"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "console"},
        "audit": {
            "class": "server.audit.external_records.LogFile",
            "filename": PODIUM_HOME / "logs" / "audit.log",
            "delay": True,
            "formatter": "line",
        },
    },
    # The log file contains every audit entry, including those from commands, whose other output goes to a terminal.
    "loggers": {
        "server.audit.services": {"handlers": ["audit"], "level": "INFO"},
        # This logger records only failed requests, with a traceback. Refused requests appear only in the line that is
        # logged for every request.
        "django.request": {"level": "ERROR", "filters": ["without_path"]},
        "gunicorn.error": {"propagate": True},
    },
    "root": {"handlers": ["console"], "level": env.choice("LOG_LEVEL", default="INFO", among=LOG_LEVELS)},
}
