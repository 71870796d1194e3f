"""Where a bucket is, as the engine reads it out of an s3:// URL."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from toolkit.cli.shared.errors import Problem

SCHEME = "s3"
_TRUE, _FALSE = {"1", "t", "T", "TRUE", "true", "True"}, {"0", "f", "F", "FALSE", "false", "False"}  # Go's
_ENCRYPTIONS = ("AES256", "aws:kms", "aws:kms:dsse", "aws:fsx")


@dataclass(frozen=True)
class Location:
    """One bucket and the part of it that is a backend's."""

    bucket: str
    prefix: str = ""
    """Before every key; empty, or with a slash at its end."""
    endpoint: str = ""
    """URL of the service with its scheme; empty for AWS."""
    region: str = ""
    profile: str = ""
    role: str = ""
    path_style: bool = False
    https: bool = True
    """Whether requests go over TLS."""
    anonymous: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of botocore's Config that the URL asks for."""
    encryption: Mapping[str, str] = field(default_factory=dict)
    """What every write asks for: type of encryption, and id of the key."""

    @property
    def where(self) -> str:
        """Name the service for users."""
        return self.endpoint or (f"AWS, region {self.region}" if self.region else "AWS")


def parse(url: str) -> Location:
    """Return what an s3:// URL says; raise Problem for one that the engine would refuse, or read otherwise."""
    parts = urlsplit(url)
    if parts.scheme != SCHEME or not parts.netloc:
        raise Problem(f"{url} names no bucket", f"Write {SCHEME}://BUCKET or {SCHEME}://BUCKET/FOLDER.")
    if parts.username or parts.password or ":" in parts.netloc:
        raise Problem(
            f"{SCHEME}://{parts.hostname}: only the name of a bucket follows {SCHEME}://",
            "The service's address goes behind it, `?endpoint=https://HOST:PORT&s3ForcePathStyle=true&region=...`; "
            "keys go into the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or a profile.",
        )
    query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
    unknown = sorted(set(query) - _KNOWN)
    if unknown:
        raise Problem(
            f"the engine knows no parameter {', '.join(unknown)} of {SCHEME}:// URLs",
            f"Known: {', '.join(sorted(_KNOWN))}.",
        )
    plain = _flag(query, "disableSSL") or _flag(query, "disable_https")
    endpoint = query.get("endpoint", "")
    if endpoint and "://" not in endpoint:
        endpoint = f"{'http' if plain else 'https'}://{endpoint}"
    folder = parts.path.lstrip("/")
    path_style = _flag(query, "s3ForcePathStyle") or _flag(query, "use_path_style")
    return Location(
        bucket=parts.netloc,
        prefix=folder if not folder or folder.endswith("/") else f"{folder}/",
        endpoint=endpoint,
        region=query.get("region", ""),
        profile=query.get("profile", ""),
        role=query.get("role", ""),
        path_style=path_style or (bool(endpoint) and _flag(query, "hostname_immutable")),
        https=endpoint.lower().startswith("https://") if endpoint else not plain,
        anonymous=_flag(query, "anonymous"),
        options={name: value for key, (name, read) in _OPTIONS.items() if key in query and (value := read(query, key))},
        encryption=_encryption(query),
    )


def _flag(query: Mapping[str, str], name: str) -> bool:
    value = query.get(name, "")
    if value and value not in _TRUE | _FALSE:
        raise Problem(f"{name}={value} in the backend's URL is neither true nor false", f"Write {name}=true.")
    return value in _TRUE


def _word(query: Mapping[str, str], name: str) -> str:
    return query[name].lower()


_OPTIONS: dict[str, tuple[str, Callable[[Mapping[str, str], str], bool | str]]] = {
    "fips": ("use_fips_endpoint", _flag),
    "dualstack": ("use_dualstack_endpoint", _flag),
    "request_checksum_calculation": ("request_checksum_calculation", _word),
    "response_checksum_validation": ("response_checksum_validation", _word),
}
_KNOWN = {
    *("endpoint", "region", "profile", "role", "anonymous", "hostname_immutable", "awssdk", "rate_limiter_capacity"),
    *("s3ForcePathStyle", "use_path_style", "disableSSL", "disable_https", "accelerate", "ssetype", "kmskeyid"),
    *_OPTIONS,
}


def _encryption(query: Mapping[str, str]) -> dict[str, str]:
    result = {}
    if kind := query.get("ssetype"):
        matching = [name for name in _ENCRYPTIONS if name.lower() == kind.lower()]
        if not matching:
            raise Problem(
                f"ssetype={kind} in the backend's URL is not encryption", f"One of {', '.join(_ENCRYPTIONS)}."
            )
        result["ServerSideEncryption"] = matching[0]
    if key := query.get("kmskeyid"):
        result["SSEKMSKeyId"] = key
    return result
