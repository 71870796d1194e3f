"""What `./hpc state init` sets on a bucket, and what it leaves alone."""

import json
from typing import Any

import pytest

from cli.backends.bucket import BucketStore, open_bucket
from cli.backends.setup import BAD, GOOD, NEWEST, PARTS, UNKNOWN, Wanted, exists, look, make, mend
from cli.errors import Problem


@pytest.fixture
def bucket(bucket_url: str) -> BucketStore:
    """Give a new bucket with nothing set."""
    store = open_bucket(bucket_url)
    assert not exists(store)
    make(store)
    assert exists(store)
    return store


def _standings(store: BucketStore, wanted: Wanted = Wanted()) -> dict[str, str]:  # noqa: B008
    return {part.name: look(store, part, wanted).standing for part in PARTS}


def _mend(store: BucketStore, wanted: Wanted = Wanted()) -> dict[str, bool]:  # noqa: B008
    return {part.name: mend(store, part, wanted)[1] for part in PARTS}


def test_all_is_set_once(bucket: BucketStore) -> None:
    """A state bucket without versions, found out when the state is lost; a second run that changes things again."""
    assert _standings(bucket)["versions"] == BAD
    make(bucket)
    assert _mend(bucket) == {part.name: part.name != "TLS only" for part in PARTS}
    assert set(_standings(bucket).values()) == {GOOD}
    assert not any(_mend(bucket).values())


def test_stricter_stays(bucket: BucketStore) -> None:
    """A key of one's own that is replaced by the service's; rules and statements of others that are gone."""
    name = bucket.location.bucket
    _mend(bucket, Wanted(key="alias/own"))
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


def test_asked_for_anew(bucket: BucketStore) -> None:
    """Options that are taken the first time only; numbers that nobody asked to change."""
    _mend(bucket, Wanted(days=30))
    assert not _mend(bucket)["lifecycle"]
    assert _mend(bucket, Wanted(days=60))["lifecycle"]
    rule = bucket.client.get_bucket_lifecycle_configuration(Bucket=bucket.location.bucket)["Rules"][0]
    assert rule["NoncurrentVersionExpiration"]["NoncurrentDays"] == 60


def test_rule_that_removes_the_state(bucket: BucketStore) -> None:
    """A rule for logs over the whole bucket, by which the present state goes after a month without an update."""
    rule = {"ID": "tidy", "Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 30}}
    bucket.client.put_bucket_lifecycle_configuration(
        Bucket=bucket.location.bucket, LifecycleConfiguration={"Rules": [rule]}
    )
    found = look(bucket, next(part for part in PARTS if part.name == "lifecycle"), Wanted())
    assert found.standing == BAD
    assert "rule tidy removes the state itself after 30 days" in found.text


def test_tls_is_demanded_beside_other_statements(bucket: BucketStore) -> None:
    """Rights that CI has by the bucket's policy, gone with it."""
    name = bucket.location.bucket
    theirs = {"Sid": "Ci", "Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "s3:GetObject", "Resource": "*"}
    bucket.client.put_bucket_policy(Bucket=name, Policy=json.dumps({"Version": "2012-10-17", "Statement": theirs}))
    secure = BucketStore(open_bucket(f"s3://{name}?region=us-east-1").location, bucket.client)
    part = next(part for part in PARTS if part.name == "TLS only")
    assert look(secure, part, Wanted()).standing == BAD
    assert mend(secure, part, Wanted())[1]
    policy = json.loads(bucket.client.get_bucket_policy(Bucket=name)["Policy"])
    assert [statement["Sid"] for statement in policy["Statement"]] == ["Ci", "HpcStateTlsOnly"]
    assert policy["Statement"][1]["Resource"] == [f"arn:aws:s3:::{name}", f"arn:aws:s3:::{name}/*"]


def test_no_tls_on_a_network(bucket: BucketStore) -> None:
    """Keys and states in plain text over a network, and a check that finds nothing wrong."""
    location = open_bucket("s3://state?endpoint=http://minio:9000&region=us-east-1").location
    part = next(part for part in PARTS if part.name == "TLS only")
    found = look(BucketStore(location, bucket.client), part, Wanted())
    assert (found.standing, found.text) == (BAD, "requests go to http://minio:9000 without TLS")


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
    """`init` that ends at the first call which MinIO or Ceph does not know, with the rest undone."""
    lesser = BucketStore(bucket.location, _Lesser(bucket.client, code, "public_access", "encryption"))
    found = [mend(lesser, part, Wanted())[0] for part in PARTS]
    assert {each.name: each.standing for each in found} == {
        "versions": GOOD,
        "public access": UNKNOWN,
        "encryption": UNKNOWN,
        "lifecycle": GOOD,
        "TLS only": GOOD,
    }
    assert all(each.remedy for each in found if each.standing == UNKNOWN)


def test_lifecycle_without_counts(bucket: BucketStore) -> None:
    """A service that knows days but no number of versions to keep, and then gets no rule at all."""

    class _Days(_Lesser):
        def __getattr__(self, name: str) -> Any:
            def put(**given: Any) -> Any:
                if str(NEWEST) in str(given):
                    return super(_Days, self).__getattr__("refused")()
                return self._client.put_bucket_lifecycle_configuration(**given)

            return put if name == "put_bucket_lifecycle_configuration" else super().__getattr__(name)

    part = next(part for part in PARTS if part.name == "lifecycle")
    found, changed = mend(BucketStore(bucket.location, _Days(bucket.client, "MalformedXML", "refused")), part, Wanted())
    assert changed
    assert found.text == "old versions are kept for 90 days; uploads that nobody finished stay"


def test_bucket_of_somebody_else(bucket: BucketStore) -> None:
    """A name that is taken: `make` answers with a code, and the person with a shrug."""
    other = BucketStore(bucket.location, _Lesser(bucket.client, "403", "head_bucket"))
    with pytest.raises(Problem, match=r"is not for these keys\n.*choose another name"):
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
    """A bucket called safe because one person, or one action, is refused without TLS."""
    name = bucket.location.bucket
    secure = BucketStore(open_bucket(f"s3://{name}?region=us-east-1").location, bucket.client)
    part = next(part for part in PARTS if part.name == "TLS only")
    mend(secure, part, Wanted())
    policy = json.loads(bucket.client.get_bucket_policy(Bucket=name)["Policy"])
    statement = {**policy["Statement"][0], **changes}
    text = json.dumps({**policy, "Statement": [statement]}).replace("{name}", name)
    bucket.client.put_bucket_policy(Bucket=name, Policy=text)
    good = changes in ({}, {"Principal": {"AWS": ["*"]}, "Action": ["s3:*"], "Resource": "*"})
    assert look(secure, part, Wanted()).standing == (GOOD if good else BAD)
    mend(secure, part, Wanted())
    assert look(secure, part, Wanted()).standing == GOOD


def test_versions_that_end_at_once(bucket: BucketStore) -> None:
    """A check that is content, and a restore that has nothing to restore."""
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
