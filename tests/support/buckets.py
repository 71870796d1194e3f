"""An object store for tests: moto's server as a real HTTP endpoint, one for the whole run, a new bucket for each."""

import itertools
import logging
from collections.abc import Iterator

import pytest

_NUMBERS = itertools.count(1)
KEYS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""What boto3 and the engine find in the environment."""


@pytest.fixture(scope="session")
def object_store() -> Iterator[str]:
    """Give the URL of an S3 service."""
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 - half a second that few tests need

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture
def bucket_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give this process keys of its own, whatever the developer has."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def bucket_url(object_store: str, bucket_keys: None) -> str:  # noqa: ARG001
    """Give the backend URL of a bucket that is not there yet."""
    return f"s3://state-{next(_NUMBERS)}?endpoint={object_store}&s3ForcePathStyle=true&region=us-east-1"
