"""The state in a bucket, read and written over HTTP."""

import time
from pathlib import Path

import pytest

from toolkit.cli.shared.backends.bucket import BucketStore, open_bucket
from toolkit.cli.shared.errors import Problem


@pytest.fixture
def bucket(bucket_url: str) -> BucketStore:
    """Give a new bucket without versions."""
    store = open_bucket(bucket_url)
    store.client.create_bucket(Bucket=store.location.bucket)
    return store


def test_objects(bucket: BucketStore) -> None:
    """Objects of a bucket are written, read, listed and removed as files of a folder are."""
    assert bucket.read(".pulumi/a.json") is None
    assert bucket.modified(".pulumi/a.json") is None
    bucket.remove(".pulumi/a.json")
    bucket.write(".pulumi/a.json", b"{}")
    bucket.write(".pulumi/b/c.json", b"[]")
    assert bucket.read(".pulumi/a.json") == b"{}"
    assert abs((bucket.modified(".pulumi/a.json") or 0) - time.time()) < 60
    assert bucket.keys(".pulumi/") == [".pulumi/a.json", ".pulumi/b/c.json"]
    assert bucket.keys(".pulumi/a") == [".pulumi/a.json"]
    bucket.remove(".pulumi/a.json")
    assert bucket.keys("") == [".pulumi/b/c.json"]


def test_folder_of_a_bucket(bucket: BucketStore, bucket_url: str) -> None:
    """A folder of a bucket has its own objects only."""
    name = bucket.location.bucket
    ours = open_bucket(bucket_url.replace(f"s3://{name}", f"s3://{name}/team"))
    ours.write("x", b"1")
    bucket.write("teams", b"2")
    assert ours.keys("") == ["x"]
    assert bucket.keys("") == ["team/x", "teams"]
    assert "team/x of http://127.0.0.1" in ours.where("x")


def test_more_keys_than_one_answer_holds(bucket: BucketStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are listed beyond the first page."""
    for number in range(5):
        bucket.write(f"k{number}", b"")
        bucket.write("k0", str(number).encode())
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "2")
    assert len(bucket.keys("k")) == 5


def test_versions(bucket: BucketStore) -> None:
    """Versions of an object are listed with size and order, removals as well."""
    assert bucket.versions("a") == ()
    bucket.client.put_bucket_versioning(Bucket=bucket.location.bucket, VersioningConfiguration={"Status": "Enabled"})
    for content in (b"1", b"22", b"333"):
        bucket.write("a", content)
    bucket.write("ab", b"another object")
    bucket.remove("a")
    found = bucket.versions("a")
    assert [(version.removed, version.latest, version.size) for version in found] == [
        (True, True, 0),
        (False, False, 3),
        (False, False, 2),
        (False, False, 1),
    ]
    assert bucket.read_version("a", found[2].id) == b"22"
    assert bucket.read("a") is None


def test_no_bucket(bucket_url: str) -> None:
    """A bucket that does not exist is named, with the command that creates it."""
    store = open_bucket(bucket_url)
    for ask in (store.keys, store.read, store.versions):
        with pytest.raises(Problem, match=r"there is no bucket state-.*\n.*state init"):
            ask("a")


def test_no_service(bucket_keys: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    """A store that does not answer is named with its address."""
    monkeypatch.setattr("toolkit.cli.shared.backends.bucket._ATTEMPTS", 1)
    url = "s3://state?endpoint=http://127.0.0.1:1&s3ForcePathStyle=true&region=us-east-1"
    with pytest.raises(Problem, match=r"http://127.0.0.1:1 .*bucket state.*\n.*endpoint"):
        open_bucket(url).keys("")


def test_no_keys(bucket_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Missing keys are named by their variables."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    with pytest.raises(Problem, match=r"there are no keys for http.*\nSet AWS_ACCESS_KEY_ID"):
        open_bucket(bucket_url).keys("")


@pytest.mark.usefixtures("bucket")
def test_keys_of_an_environment(bucket_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store's keys may be given in place of the environment's."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    assert open_bucket(bucket_url, keys).keys("") == []


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("s3://state?profile=nobody-has-this", "nobody-has-this"),
        ("s3://state?endpoint=http://%20&region=a", "Invalid endpoint"),
    ],
)
def test_wrong_settings(url: str, message: str, bucket_keys: None) -> None:  # noqa: ARG001
    """A wrong profile or setting is refused with a message."""
    with pytest.raises(Problem, match=message):
        open_bucket(url)


@pytest.mark.parametrize(
    ("query", "chosen", "checksums"),
    [
        ("region=eu-central-1", "", "when_supported"),
        ("endpoint=https://odf:443&region=x", "", "when_required"),
        ("endpoint=https://odf:443&region=x", "WHEN_SUPPORTED", "when_supported"),
        ("endpoint=https://odf:443&region=x&request_checksum_calculation=when_supported", "", "when_supported"),
    ],
)
def test_checksums_of_writes(query: str, chosen: str, checksums: str) -> None:
    """As the engine, a write to another service than AWS has a checksum only where one is required or asked for."""
    store = open_bucket(f"s3://state?{query}", {"AWS_REQUEST_CHECKSUM_CALCULATION": chosen})
    assert store.client.meta.config.request_checksum_calculation == checksums
