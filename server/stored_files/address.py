"""The URL of an S3-compatible object store, which the setting STORAGE_URL contains."""

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

# The default region of an object store. Most S3-compatible stores accept this region or ignore it.
REGION = "us-east-1"
OPTIONS = {"region", "tls", "ca"}
SWITCH = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """A bucket of an object store, and the key pair that gives access to it.

    endpoint : URL of the server
    ca : path of a file with trusted certificate authorities; empty for the default authorities
    """

    endpoint: str
    bucket: str
    region: str
    ca: str
    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)

    @property
    def title(self) -> str:
        """The URL of the bucket without the key pair, for messages and logs."""
        return f"s3://{self.endpoint.partition('://')[2]}/{self.bucket}"


def parsed(url: str) -> ObjectStore:
    """Return the object store with the URL `s3://KEY:SECRET@HOST:PORT/BUCKET?region=NAME&tls=false&ca=FILE`.

    Raises ValueError if a part is missing or unknown. The message does not contain the URL.
    """
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, strict_parsing=True, keep_blank_values=True)) if parts.query else {}
    bucket = parts.path.strip("/")
    needed = (parts.hostname, bucket, parts.username, parts.password)
    if parts.scheme != "s3" or parts.fragment or not all(needed) or "/" in bucket or not options.keys() <= OPTIONS:
        raise ValueError("a part of the address is missing or unknown")
    if options.get("tls", "true") not in SWITCH:
        raise ValueError("tls must be true or false")
    port = f":{parts.port}" if parts.port else ""
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
    return ObjectStore(
        endpoint=f"{'https' if SWITCH[options.get('tls', 'true')] else 'http'}://{host}{port}",
        bucket=bucket,
        region=options.get("region", "") or REGION,
        ca=options.get("ca", ""),
        access_key=unquote(str(parts.username)),
        secret_key=unquote(str(parts.password)),
    )
