"""TLS for a bucket: its policy refuses what comes without it."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from toolkit.cli.shared.backends.bucket import BucketStore, code_of

NO_POLICY = "NoSuchBucketPolicy"
"""The code by which a service reports that there is no policy."""
_STATEMENT = "HpcStateTlsOnly"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def _statements(store: BucketStore) -> dict[str, Any]:
    policy: dict[str, Any] = json.loads(store.client.get_bucket_policy(Bucket=store.location.bucket)["Policy"])
    statements = policy.get("Statement") or []
    return {**policy, "Statement": statements if isinstance(statements, list) else [statements]}


def demanded(store: BucketStore) -> tuple[bool, str]:
    """Return whether requests without TLS are refused, or never leave this machine, and what is."""
    if not store.location.https:
        host = urlsplit(store.location.endpoint).hostname
        return host in _LOOPBACK, f"requests go to {store.location.where} without TLS"
    if any(_refuses_plain(statement, store.location.bucket) for statement in _statements(store)["Statement"]):
        return True, "requests without TLS are refused"
    return False, "the bucket's policy takes requests without TLS, of some people or for some objects at least"


def _refuses_plain(statement: Mapping[str, Any], bucket: str) -> bool:
    """Whether a statement refuses all that comes without TLS: of all principals, on the bucket and on all in it."""
    principal = statement.get("Principal")
    people = _listed(principal.get("AWS") if isinstance(principal, dict) else principal)
    resources = {str(resource).rpartition(":::")[2] for resource in _listed(statement.get("Resource"))}
    condition = statement.get("Condition") or {}
    insecure = condition.get("Bool") or {}
    return (
        statement.get("Effect") == "Deny"
        and "*" in people
        and not {"s3:*", "*"}.isdisjoint(_listed(statement.get("Action")))
        and ("*" in resources or {bucket, f"{bucket}/*"} <= resources)
        and list(condition) == ["Bool"]
        and [str(value).lower() for value in _listed(insecure.get("aws:SecureTransport"))] == ["false"]
        and len(insecure) == 1
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def demand(store: BucketStore) -> None:
    """Refuse requests without TLS, beside what others have set."""
    from botocore.exceptions import ClientError  # noqa: PLC0415

    if not store.location.https:
        return
    try:
        policy = _statements(store)
    except ClientError as error:
        if code_of(error) != NO_POLICY:
            raise
        policy = {"Version": "2012-10-17", "Statement": []}
    region = store.client.meta.region_name or ""
    partition = "aws-cn" if region.startswith("cn-") else "aws-us-gov" if region.startswith("us-gov-") else "aws"
    resource = f"arn:{partition}:s3:::{store.location.bucket}"
    statement = {
        "Sid": _STATEMENT,
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [resource, f"{resource}/*"],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    others = [statement for statement in policy["Statement"] if statement.get("Sid") != _STATEMENT]
    store.client.put_bucket_policy(
        Bucket=store.location.bucket, Policy=json.dumps({**policy, "Statement": [*others, statement]})
    )
