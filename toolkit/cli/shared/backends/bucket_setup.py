"""Setting up a bucket for a state: creating it, and repairing what is not good, part by part.

Services answer differently to what they do not know, so that one part which cannot be had leaves the others.
"""

from dataclasses import replace

from toolkit.cli.shared.backends.bucket import ABSENT, UNKNOWN_CALLS, BucketStore, code_of
from toolkit.cli.shared.backends.bucket_parts import BAD, GOOD, UNKNOWN, BucketOptions, Finding, Part
from toolkit.cli.shared.errors import Problem


def exists(store: BucketStore) -> bool:
    """Whether the bucket is there; raise Problem where it is another owner's."""
    from botocore.exceptions import ClientError  # noqa: PLC0415

    with store.asking():
        try:
            store.client.head_bucket(Bucket=store.location.bucket)
            return True
        except ClientError as error:
            if code_of(error) in ("403", "AccessDenied", "Forbidden"):
                raise Problem(
                    f"bucket {store.location.bucket} on {store.location.where} is not for these keys",
                    "It belongs to another account (names are shared by all of a service's users), or the keys have no "
                    "right to it: use another name, or ask for s3:ListBucket.",
                ) from None
            if code_of(error) not in ("404", "NoSuchBucket", "NotFound"):
                raise
    return False


def make(store: BucketStore) -> None:
    """Create the bucket, in the region of the backend's URL."""
    from botocore.exceptions import ClientError  # noqa: PLC0415

    region = store.client.meta.region_name
    place = {} if region in (None, "us-east-1", "aws-global") else {"LocationConstraint": region}
    with store.asking():
        try:
            store.client.create_bucket(
                Bucket=store.location.bucket, **({"CreateBucketConfiguration": place} if place else {})
            )
        except ClientError as error:
            if code_of(error) == "InvalidLocationConstraint":  # Ceph knows zone groups, not regions
                store.client.create_bucket(Bucket=store.location.bucket)
            elif code_of(error) != "BucketAlreadyOwnedByYou":
                raise


def inspect(store: BucketStore, part: Part, options: BucketOptions) -> Finding:
    """Return the status of one part; a service that does not support it, or denies it, gives UNKNOWN."""
    from botocore.exceptions import ClientError  # noqa: PLC0415

    with store.asking():
        try:
            good, text = part.inspect(store, options)
        except ClientError as error:
            code = code_of(error)
            if code == part.absent:
                good, text = False, "not set"
            elif code in UNKNOWN_CALLS | ABSENT:
                return Finding(part.name, UNKNOWN, f"{store.location.where} does not know it ({code})", part.loss)
            elif code in ("AccessDenied", "403"):
                return Finding(part.name, UNKNOWN, "the keys may not ask for it", f"Unless it is set: {part.loss}")
            else:
                raise
    return Finding(part.name, GOOD if good else BAD, text, "" if good else part.loss)


def repair(store: BucketStore, part: Part, options: BucketOptions) -> tuple[Finding, bool]:
    """Repair one part that is not good; return its status then, and whether anything was changed."""
    from botocore.exceptions import ClientError  # noqa: PLC0415

    before = inspect(store, part, options)
    if before.status == GOOD:
        return before, False
    with store.asking():
        try:
            part.repair(store, options)
        except ClientError as error:
            code = code_of(error)
            if code not in UNKNOWN_CALLS | ABSENT and code not in (
                "AccessDenied",
                "403",
                "InvalidArgument",
                "InvalidRequest",
            ):
                raise
            reason = "the keys may not set it" if code in ("AccessDenied", "403") else f"refused it ({code})"
            return Finding(part.name, UNKNOWN, f"{store.location.where}: {reason}", part.loss), False
    after = inspect(store, part, options)
    if after.status == BAD:
        after = replace(after, text=f"{after.text}, although it was set just now")
    return after, after.status == GOOD
