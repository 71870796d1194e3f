"""Stacks whose state is in a folder, and in a bucket behind a real HTTP endpoint."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.engine.kit import Cluster
from tests.engine.resilience.kit import Kept, s3_url

_NUMBERS = itertools.count(1)
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_EC2_METADATA_DISABLED": "true"}


@pytest.fixture(scope="session")
def object_store() -> Iterator[int]:
    """Give the port of an S3 service."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield server.get_host_and_port()[1]
    server.stop()


@pytest.fixture
def bucket(object_store: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make an empty bucket and give its name; keys are in the environment."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    name = f"kept-{next(_NUMBERS)}"  # moto has one world per process: tests/support/buckets.py makes others
    client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{object_store}", region_name="us-east-1")
    client.create_bucket(Bucket=name)
    return name


@pytest.fixture(params=["folder", "bucket"])
def kept(request: pytest.FixtureRequest, tmp_path: Path, api: Cluster) -> Kept:
    """Give a new stack on each kind of backend."""
    if request.param == "folder":
        folder = tmp_path / "backend"
        folder.mkdir()
        url = f"{folder.as_uri()}?metadata=skip"
    else:
        url = s3_url(request.getfixturevalue("bucket"), request.getfixturevalue("object_store"))
    return Kept.make(tmp_path / "project", api, url)
