"""Whether a request was signed with the store's key: AWS Signature Version 4, in the headers, as for S3.

Without it every user of the machine could read and write the state of a cluster.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote

from toolkit.simulator.access.accounts import Account

_ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True)
class Request:
    """What of a request is signed; `target` is path and query as they were sent, header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]


def refusal(request: Request, account: Account) -> str | None:
    """Return the code of S3's error for a request that the account did not sign; None for one that it did."""
    algorithm, _, rest = request.headers.get("authorization", "").partition(" ")
    fields = dict(part.strip().partition("=")[::2] for part in rest.split(","))
    if algorithm != _ALGORITHM or not {"Credential", "SignedHeaders", "Signature"} <= set(fields):
        return "AccessDenied"
    access_key, _, scope = fields["Credential"].partition("/")
    if not hmac.compare_digest(access_key.encode(), account.user.encode()):
        return "InvalidAccessKeyId"
    expected = signature(request, scope, fields["SignedHeaders"], account.password)
    return None if hmac.compare_digest(expected.encode(), fields["Signature"].encode()) else "SignatureDoesNotMatch"


def signature(request: Request, scope: str, signed: str, secret: str) -> str:
    """Return the signature of a request: `scope` is date/region/s3/aws4_request, `signed` the headers in it."""
    path, _, query = request.target.partition("?")
    pairs = sorted((quote(key, safe="-_.~"), quote(value, safe="-_.~")) for key, value in parse_qsl(query, True))
    canonical = "\n".join(
        (
            request.method,
            path or "/",
            "&".join(f"{key}={value}" for key, value in pairs),
            *(f"{name}:{' '.join(request.headers.get(name, '').split())}" for name in signed.split(";")),
            "",
            signed,
            request.headers.get("x-amz-content-sha256", ""),
        )
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    message = "\n".join((_ALGORITHM, request.headers.get("x-amz-date", ""), scope, digest))
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, message.encode(), hashlib.sha256).hexdigest()
