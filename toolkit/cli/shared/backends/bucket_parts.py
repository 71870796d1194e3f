"""What a bucket needs to store a state safely, part by part: how each is inspected, and set.

Each part only adds: what is stricter already, and what others have set, stays.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolkit.cli.shared.backends import secure_transport
from toolkit.cli.shared.backends.bucket import UNKNOWN_CALLS, BucketStore, code_of

GOOD, BAD, UNKNOWN = "good", "bad", "unknown"
DAYS = 90
"""Days that an old version of the state is stored."""
LEAST_DAYS = 7
"""Fewer, and what went wrong before a holiday is found when nothing of before is stored."""
NEWEST = 50
"""Old versions that are retained however old they are; S3 counts up to 100. An update writes one for each step."""
UPLOAD_DAYS = 7
"""Days after which the pieces of an upload that was never finished go."""
_RULE = "hpc-state"


@dataclass(frozen=True)
class BucketOptions:
    """What a user may choose; None leaves it as it is, or at its default where there is nothing."""

    days: int | None = None
    newest: int | None = None
    key: str | None = None
    """Of KMS; without one the service's own keys do."""


@dataclass(frozen=True)
class Finding:
    """The status of one part, as text, and what to do where it is not good."""

    name: str
    status: str
    text: str
    remedy: str = ""


@dataclass(frozen=True)
class Part:
    """One thing that a state bucket needs."""

    name: str
    inspect: Callable[[BucketStore, BucketOptions], tuple[bool, str]]
    """Whether it is so, and what is; may raise botocore's ClientError."""
    repair: Callable[[BucketStore, BucketOptions], None]
    absent: str = ""
    """The code by which a service reports that nothing is set."""
    loss: str = ""
    """What it means for the state where it cannot be had."""


def _versioning(store: BucketStore, options: BucketOptions) -> tuple[bool, str]:  # noqa: ARG001
    status = store.client.get_bucket_versioning(Bucket=store.location.bucket).get("Status", "off")
    return status == "Enabled", f"versioning is {status.lower()}"


def _keep_versions(store: BucketStore, options: BucketOptions) -> None:  # noqa: ARG001
    store.client.put_bucket_versioning(Bucket=store.location.bucket, VersioningConfiguration={"Status": "Enabled"})


_BLOCKS = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")


def _public(store: BucketStore, options: BucketOptions) -> tuple[bool, str]:  # noqa: ARG001
    configuration = store.client.get_public_access_block(Bucket=store.location.bucket)["PublicAccessBlockConfiguration"]
    lacking = [block for block in _BLOCKS if not configuration.get(block)]
    return not lacking, f"without {', '.join(lacking)}" if lacking else "public access is blocked"


def _block_public(store: BucketStore, options: BucketOptions) -> None:  # noqa: ARG001
    store.client.put_public_access_block(
        Bucket=store.location.bucket, PublicAccessBlockConfiguration=dict.fromkeys(_BLOCKS, True)
    )


def _encryption(store: BucketStore, options: BucketOptions) -> tuple[bool, str]:
    answer = store.client.get_bucket_encryption(Bucket=store.location.bucket)
    rules = answer["ServerSideEncryptionConfiguration"]["Rules"]
    default = next((rule.get("ApplyServerSideEncryptionByDefault") or {} for rule in rules), {})
    kind, key = default.get("SSEAlgorithm", "none"), default.get("KMSMasterKeyID", "")
    shown = f"{kind}, key {key}" if key else str(kind)
    return (key == options.key if options.key else kind != "none"), f"encrypted by default with {shown}"


def _encrypt(store: BucketStore, options: BucketOptions) -> None:
    default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": options.key} if options.key else {"SSEAlgorithm": "AES256"}
    rule: dict[str, Any] = {"ApplyServerSideEncryptionByDefault": default}
    if options.key:
        rule["BucketKeyEnabled"] = True  # else every object costs a request to KMS
    store.client.put_bucket_encryption(
        Bucket=store.location.bucket, ServerSideEncryptionConfiguration={"Rules": [rule]}
    )


def _rules(store: BucketStore) -> list[dict[str, Any]]:
    answer = store.client.get_bucket_lifecycle_configuration(Bucket=store.location.bucket)
    return list(answer.get("Rules", []))


def _prefix(rule: Mapping[str, Any]) -> str:
    chosen = rule.get("Filter") or {}
    return str(rule.get("Prefix") or chosen.get("Prefix") or (chosen.get("And") or {}).get("Prefix") or "")


def _ours(store: BucketStore) -> str:
    """Return the prefix of all that the engine and ./hpc write: what else is in the bucket has rules of its own."""
    return f"{store.location.prefix}.pulumi/"


def _lifecycle(store: BucketStore, options: BucketOptions) -> tuple[bool, str]:
    own = _ours(store)
    rules = [
        rule
        for rule in _rules(store)
        if rule.get("Status") == "Enabled" and (_prefix(rule).startswith(own) or own.startswith(_prefix(rule)))
    ]
    for rule in rules:
        expiration = rule.get("Expiration") or {}
        if expiration.get("Days") or expiration.get("Date"):
            when = f"after {expiration['Days']} days" if expiration.get("Days") else f"at {expiration['Date']}"
            return False, f"rule {rule.get('ID', '')} removes the state itself {when}; take it off"
    ending = [rule["NoncurrentVersionExpiration"] for rule in rules if rule.get("NoncurrentVersionExpiration")]
    if not ending:
        return False, "old versions are retained for ever"
    soonest = min(ending, key=lambda rule: int(rule.get("NoncurrentDays") or 0))
    days, newest = soonest.get("NoncurrentDays"), soonest.get("NewerNoncurrentVersions")
    if int(days or 0) < LEAST_DAYS:
        return False, f"old versions end after {days} days: an error that is found later cannot be restored from"
    kept = f" and the newest {newest}" if newest else ""
    fits = options.days in (None, days) and options.newest in (None, newest)
    uploads = any(rule.get("AbortIncompleteMultipartUpload") for rule in rules)
    more = "" if uploads else "; unfinished uploads are retained"
    return fits, f"old versions are retained for {days} days{kept}{more}"


def _end_versions(store: BucketStore, options: BucketOptions) -> None:
    """Set our rule beside those of others; where the service does not know all of it, the part that all know."""
    from botocore.exceptions import ClientError  # noqa: PLC0415

    try:
        rules = _rules(store)
    except ClientError as error:
        if code_of(error) != _NO_LIFECYCLE:
            raise
        rules = []
    own = next((rule for rule in rules if rule.get("ID") == _RULE), {}).get("NoncurrentVersionExpiration") or {}
    others = [rule for rule in rules if rule.get("ID") != _RULE]
    before = int(own.get("NoncurrentDays") or 0)
    days = {"NoncurrentDays": options.days or (before if before >= LEAST_DAYS else DAYS)}
    newest = {"NewerNoncurrentVersions": options.newest or own.get("NewerNoncurrentVersions") or NEWEST}
    rule = {
        "ID": _RULE,
        "Status": "Enabled",
        "Filter": {"Prefix": _ours(store)},
        "NoncurrentVersionExpiration": {**days, **newest},
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": UPLOAD_DAYS},
    }
    plain = {key: value for key, value in rule.items() if key != "AbortIncompleteMultipartUpload"}
    try:
        _set_rules(store, [*others, rule])
    except ClientError as error:
        if code_of(error) not in {*UNKNOWN_CALLS, "InvalidArgument", "InvalidRequest"} or options.newest:
            raise
        _set_rules(store, [*others, {**plain, "NoncurrentVersionExpiration": days}])


def _set_rules(store: BucketStore, rules: list[dict[str, Any]]) -> None:
    store.client.put_bucket_lifecycle_configuration(
        Bucket=store.location.bucket, LifecycleConfiguration={"Rules": rules}
    )


_NO_LIFECYCLE = "NoSuchLifecycleConfiguration"
PARTS = (
    Part(
        "versions",
        _versioning,
        _keep_versions,
        loss="Older states are only in .pulumi/history, one for each update, and from your backups.",
    ),
    Part(
        "public access",
        _public,
        _block_public,
        absent="NoSuchPublicAccessBlockConfiguration",
        loss="See that no policy and no ACL opens the bucket: a state describes all objects of a cluster.",
    ),
    Part(
        "encryption",
        _encryption,
        _encrypt,
        absent="ServerSideEncryptionConfigurationNotFoundError",
        loss="See that the service encrypts its disks; secrets in the state are encrypted by the engine in any case.",
    ),
    Part(
        "lifecycle",
        _lifecycle,
        _end_versions,
        absent=_NO_LIFECYCLE,
        loss="Old versions stay until they are removed manually; the engine writes one at every step of an update.",
    ),
    Part(
        "TLS only",
        lambda store, _: secure_transport.demanded(store),
        lambda store, _: secure_transport.demand(store),
        absent=secure_transport.NO_POLICY,
        loss="Use an https:// endpoint, and let no client use another.",
    ),
)
