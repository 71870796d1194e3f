"""What `./hpc state init` sets on a bucket, and what it leaves alone."""

import json
from typing import Any

import pytest

from tests.support.messages import has
from toolkit.cli.shared.backends.bucket import BucketStore, open_bucket
from toolkit.cli.shared.backends.bucket_parts import BAD, GOOD, NEWEST, PARTS, UNKNOWN, BucketOptions
from toolkit.cli.shared.backends.bucket_setup import exists, inspect, make, repair
from toolkit.cli.shared.errors import Problem


@pytest.fixture
def bucket(bucket_url: str) -> BucketStore:
    """Give a new bucket with nothing set."""
    store = open_bucket(bucket_url)
    assert not exists(store)
    make(store)
    assert exists(store)
    return store


def _standings(store: BucketStore, wanted: BucketOptions = BucketOptions()) -> dict[str, str]:  # noqa: B008
    return {part.name: inspect(store, part, wanted).status for part in PARTS}


def _mend(store: BucketStore, wanted: BucketOptions = BucketOptions()) -> dict[str, bool]:  # noqa: B008
    return {part.name: repair(store, part, wanted)[1] for part in PARTS}


def test_all_is_set_once(bucket: BucketStore) -> None:
    """A new bucket gets versions and all other parts, and a second run changes nothing."""
    assert _standings(bucket)["versions"] == BAD
    make(bucket)
    assert _mend(bucket) == {part.name: part.name != "TLS only" for part in PARTS}
    assert set(_standings(bucket).values()) == {GOOD}
    assert not any(_mend(bucket).values())


def test_stricter_stays(bucket: BucketStore) -> None:
    """Stricter settings of the bucket, and rules of others, stay."""
    name = bucket.location.bucket
    _mend(bucket, BucketOptions(key="alias/own"))
    bucket.client.put_bucket_lifecycle_configuration(
        Bucket=name,
        LifecycleConfiguration={
            "Rules": [
                {
                    "ID": "theirs",
                    "Status": "Enabled",
                    "Filter": {"Prefix": "logs/"},
                    "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1},
                }
            ]
        },
    )
    _mend(bucket)
    encryption = bucket.client.get_bucket_encryption(Bucket=name)["ServerSideEncryptionConfiguration"]["Rules"][0]
    assert encryption["ApplyServerSideEncryptionByDefault"]["KMSMasterKeyID"] == "alias/own"
    rules = bucket.client.get_bucket_lifecycle_configuration(Bucket=name)["Rules"]
    assert [rule["ID"] for rule in rules] == ["theirs", "hpc-state"]


def test_options_change_the_bucket_again(bucket: BucketStore) -> None:
    """Options that are given change the bucket, also later; without them its numbers stay."""
    _mend(bucket, BucketOptions(days=30))
    assert not _mend(bucket)["lifecycle"]
    assert _mend(bucket, BucketOptions(days=60))["lifecycle"]
    rule = bucket.client.get_bucket_lifecycle_configuration(Bucket=bucket.location.bucket)["Rules"][0]
    assert rule["NoncurrentVersionExpiration"]["NoncurrentDays"] == 60


def test_rule_that_removes_the_state(bucket: BucketStore) -> None:
    """A lifecycle rule that would remove the present state is bad, and named."""
    rule = {"ID": "tidy", "Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 30}}
    bucket.client.put_bucket_lifecycle_configuration(
        Bucket=bucket.location.bucket, LifecycleConfiguration={"Rules": [rule]}
    )
    found = inspect(bucket, next(part for part in PARTS if part.name == "lifecycle"), BucketOptions())
    assert found.status == BAD
    assert has(found.text, "rule tidy", "state", "30 days")


def test_tls_is_demanded_beside_other_statements(bucket: BucketStore) -> None:
    """TLS is required by a statement beside those of the bucket's policy."""
    name = bucket.location.bucket
    theirs = {"Sid": "Ci", "Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "s3:GetObject", "Resource": "*"}
    bucket.client.put_bucket_policy(Bucket=name, Policy=json.dumps({"Version": "2012-10-17", "Statement": theirs}))
    secure = BucketStore(open_bucket(f"s3://{name}?region=us-east-1").location, bucket.client)
    part = next(part for part in PARTS if part.name == "TLS only")
    assert inspect(secure, part, BucketOptions()).status == BAD
    assert repair(secure, part, BucketOptions())[1]
    policy = json.loads(bucket.client.get_bucket_policy(Bucket=name)["Policy"])
    assert [statement["Sid"] for statement in policy["Statement"]] == ["Ci", "HpcStateTlsOnly"]
    assert policy["Statement"][1]["Resource"] == [f"arn:aws:s3:::{name}", f"arn:aws:s3:::{name}/*"]


def test_no_tls_on_a_network(bucket: BucketStore) -> None:
    """An endpoint without TLS on a network is bad."""
    location = open_bucket("s3://state?endpoint=http://minio:9000&region=us-east-1").location
    part = next(part for part in PARTS if part.name == "TLS only")
    found = inspect(BucketStore(location, bucket.client), part, BucketOptions())
    assert (found.status, found.text) == (BAD, "requests go to http://minio:9000 without TLS")


class _Lesser:
    """The client of a service that does not know some calls."""

    def __init__(self, client: Any, code: str, *calls: str) -> None:
        self._client, self._code, self._calls = client, code, calls

    def __getattr__(self, name: str) -> Any:
        from botocore.exceptions import ClientError  # noqa: PLC0415

        def refuse(**_: Any) -> None:
            raise ClientError({"Error": {"Code": self._code, "Message": "no"}}, name)

        return refuse if any(call in name for call in self._calls) else getattr(self._client, name)


@pytest.mark.parametrize("code", ["NotImplemented", "MalformedXML", "AccessDenied", "404"])
def test_services_that_know_less(bucket: BucketStore, code: str) -> None:
    """Parts that a service does not support are unknown, and the others are set."""
    lesser = BucketStore(bucket.location, _Lesser(bucket.client, code, "public_access", "encryption"))
    found = [repair(lesser, part, BucketOptions())[0] for part in PARTS]
    assert {each.name: each.status for each in found} == {
        "versions": GOOD,
        "public access": UNKNOWN,
        "encryption": UNKNOWN,
        "lifecycle": GOOD,
        "TLS only": GOOD,
    }
    assert all(each.remedy for each in found if each.status == UNKNOWN)


def test_lifecycle_without_counts(bucket: BucketStore) -> None:
    """A service that supports days but no number of versions gets a rule with days."""

    class _Days(_Lesser):
        def __getattr__(self, name: str) -> Any:
            def put(**given: Any) -> Any:
                if str(NEWEST) in str(given):
                    return super(_Days, self).__getattr__("refused")()
                return self._client.put_bucket_lifecycle_configuration(**given)

            return put if name == "put_bucket_lifecycle_configuration" else super().__getattr__(name)

    part = next(part for part in PARTS if part.name == "lifecycle")
    found, changed = repair(
        BucketStore(bucket.location, _Days(bucket.client, "MalformedXML", "refused")), part, BucketOptions()
    )
    assert changed
    assert has(found.text, "90 days", "unfinished uploads")


def test_bucket_of_another_account(bucket: BucketStore) -> None:
    """A bucket of another account is refused, with the remedy to use another name."""
    other = BucketStore(bucket.location, _Lesser(bucket.client, "403", "head_bucket"))
    with pytest.raises(Problem, match=r"is not for these keys\n.*use another name"):
        exists(other)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"Principal": {"AWS": ["*"]}, "Action": ["s3:*"], "Resource": "*"},
        {"Principal": {"AWS": "arn:aws:iam::1:user/one"}},
        {"Action": "s3:GetObject"},
        {"Resource": "arn:aws:s3:::{name}/other/*"},
        {"Resource": ["arn:aws:s3:::{name}/*"]},
        {"Condition": {"Bool": {"aws:SecureTransport": "true"}}},
        {"Condition": {"Bool": {"aws:SecureTransport": "false"}, "StringEquals": {"aws:username": "one"}}},
        {"Effect": "Allow"},
    ],
)
def test_some_without_tls_is_not_none_without_tls(bucket: BucketStore, changes: dict[str, Any]) -> None:
    """A policy that requires TLS of some users or actions only does not count."""
    name = bucket.location.bucket
    secure = BucketStore(open_bucket(f"s3://{name}?region=us-east-1").location, bucket.client)
    part = next(part for part in PARTS if part.name == "TLS only")
    repair(secure, part, BucketOptions())
    policy = json.loads(bucket.client.get_bucket_policy(Bucket=name)["Policy"])
    statement = {**policy["Statement"][0], **changes}
    text = json.dumps({**policy, "Statement": [statement]}).replace("{name}", name)
    bucket.client.put_bucket_policy(Bucket=name, Policy=text)
    good = changes in ({}, {"Principal": {"AWS": ["*"]}, "Action": ["s3:*"], "Resource": "*"})
    assert inspect(secure, part, BucketOptions()).status == (GOOD if good else BAD)
    repair(secure, part, BucketOptions())
    assert inspect(secure, part, BucketOptions()).status == GOOD


def test_versions_that_end_at_once(bucket: BucketStore) -> None:
    """A rule that ends old versions at once is bad, and repaired."""
    _mend(bucket)
    rule = {"ID": "hpc-state", "Status": "Enabled", "Filter": {"Prefix": ""}}
    short = {**rule, "NoncurrentVersionExpiration": {"NoncurrentDays": 1}}
    name = bucket.location.bucket
    bucket.client.put_bucket_lifecycle_configuration(Bucket=name, LifecycleConfiguration={"Rules": [short]})
    assert _standings(bucket)["lifecycle"] == BAD
    assert _mend(bucket)["lifecycle"]
    assert _standings(bucket)["lifecycle"] == GOOD
    theirs = {**short, "ID": "theirs"}
    rules = bucket.client.get_bucket_lifecycle_configuration(Bucket=name)["Rules"]
    bucket.client.put_bucket_lifecycle_configuration(Bucket=name, LifecycleConfiguration={"Rules": [*rules, theirs]})
    assert _standings(bucket)["lifecycle"] == BAD
