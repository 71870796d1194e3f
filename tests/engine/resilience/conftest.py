"""Stacks whose state is in a folder, and in a bucket behind a real HTTP endpoint."""

import itertools
from pathlib import Path

import boto3
import pytest

from tests.engine.kit import Cluster
from tests.engine.resilience.kit import Kept, s3_url

_NUMBERS = itertools.count(1)


@pytest.fixture
def bucket(object_store: str, bucket_keys: None) -> str:  # noqa: ARG001
    """Make an empty bucket and give its name; keys are in the environment."""
    name = f"kept-{next(_NUMBERS)}"
    boto3.client("s3", endpoint_url=object_store).create_bucket(Bucket=name)
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
