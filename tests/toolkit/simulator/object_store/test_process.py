"""The process of a simulated object store, over HTTP."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from tests.support.recorded import ROOT
from toolkit.simulator.access import accounts
from toolkit.simulator.processes import ports

pytestmark = pytest.mark.engine

BUCKET = "hpc"
KEPT = 2


class Process:
    """A store that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, ports.free()
        self.keys = accounts.create(folder / "keys.json")

    def start(self) -> None:
        """Start it; return when it serves."""
        arguments = [
            f"--port={self.port}",
            f"--root={self.folder / 'objects'}",
            f"--credentials={self.folder / 'keys.json'}",
        ]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "toolkit.simulator.object_store", *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()

    def kill(self) -> None:
        """Kill it with SIGKILL, which it cannot handle."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def client(self, secret: str | None = None) -> Any:
        """Return a client with its keys, or with another secret."""
        return boto3.client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{self.port}",
            region_name="us-east-1",
            aws_access_key_id=self.keys.user,
            aws_secret_access_key=secret or self.keys.password,
            config=Config(s3={"addressing_style": "path"}, proxies={}, retries={"total_max_attempts": 1}),
        )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Process]:
    """Return a running store."""
    process = Process(tmp_path)
    process.start()
    yield process
    process.kill()


def test_killed_store_has_all_that_it_acknowledged(store: Process) -> None:
    """All that was acknowledged survives a kill of the store."""
    assert store.said.startswith("simulated by hpc: ")
    client = store.client()
    client.create_bucket(Bucket=BUCKET)
    client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    client.put_public_access_block(Bucket=BUCKET, PublicAccessBlockConfiguration={"BlockPublicAcls": True})
    rule = {
        "ID": "old",
        "Status": "Enabled",
        "Filter": {"Prefix": ""},
        "NoncurrentVersionExpiration": {"NoncurrentDays": 1, "NewerNoncurrentVersions": KEPT},
    }
    client.put_bucket_lifecycle_configuration(Bucket=BUCKET, LifecycleConfiguration={"Rules": [rule]})
    for number in range(5):
        client.put_object(Bucket=BUCKET, Key="a b/ü.json", Body=f"{number}".encode(), Metadata={"number": f"{number}"})
    client.put_object(Bucket=BUCKET, Key="gone", Body=b"1")
    client.delete_object(Bucket=BUCKET, Key="gone")
    client.copy_object(Bucket=BUCKET, Key="copy", CopySource={"Bucket": BUCKET, "Key": "a b/ü.json"})
    before = _content(client)

    store.kill()
    store.start()

    assert _content(client) == before
    assert [body for key, _, body in before if key == "a b/ü.json"] == [b"4", b"3", b"2"], "the newest and KEPT more"
    assert client.head_object(Bucket=BUCKET, Key="a b/ü.json")["Metadata"] == {"number": "4"}
    assert client.get_bucket_versioning(Bucket=BUCKET)["Status"] == "Enabled"
    assert client.get_public_access_block(Bucket=BUCKET)["PublicAccessBlockConfiguration"]["BlockPublicAcls"]
    assert client.get_bucket_lifecycle_configuration(Bucket=BUCKET)["Rules"] == [rule]
    with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
        store.client("another").list_buckets()


def test_client_that_dies_in_the_middle_of_a_write_changes_nothing(store: Process) -> None:
    """A client that dies during a write changes nothing and blocks no other client."""
    client = store.client()
    client.create_bucket(Bucket=BUCKET)
    client.put_object(Bucket=BUCKET, Key="a", Body=b"whole")
    request = AWSRequest("PUT", f"http://127.0.0.1:{store.port}/{BUCKET}/a", data=b"0123456789")
    S3SigV4Auth(Credentials(store.keys.user, store.keys.password), "s3", "us-east-1").add_auth(request)
    head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    head = f"PUT /{BUCKET}/a HTTP/1.1\r\nHost: 127.0.0.1:{store.port}\r\nContent-Length: 10\r\n{head}\r\n"
    with socket.create_connection(("127.0.0.1", store.port)) as hanging:
        hanging.sendall(head.encode() + b"01234")
        client.put_object(Bucket=BUCKET, Key="b", Body=b"1")
        hanging.shutdown(socket.SHUT_WR)
        assert b"IncompleteBody" in b"".join(iter(lambda: hanging.recv(4096), b""))
    assert client.get_object(Bucket=BUCKET, Key="a")["Body"].read() == b"whole"


def _content(client: Any) -> list[tuple[str, str, bytes]]:
    """Return key, version and content of all versions, newest first; delete marks with none."""
    listed = client.list_object_versions(Bucket=BUCKET)
    found = [
        (
            item["Key"],
            item["VersionId"],
            client.get_object(Bucket=BUCKET, Key=item["Key"], VersionId=item["VersionId"])["Body"].read(),
        )
        for item in listed["Versions"]
    ]
    return found + [(item["Key"], item["VersionId"], b"") for item in listed["DeleteMarkers"]]
