"""A workstation with a checkout, a cluster and a bucket, in which values are planted; all that its commands print."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import yaml

from simulator.actors.api import Api, Server
from tests.support import planted
from tests.support.recorded import ROOT
from tests.support.stack_settings import in_one

BUCKET = "planted"
REGISTRY = "registry.example.com"
ODD = ('q"\\', "/+ %ü")
"""What stands around values, so that those which quote or escape have something to do."""
_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", ".sim", "out", "__pycache__", ".*_cache", "Pulumi.lab.*", "evidence-*"
)


@dataclass
class Site:
    """A workstation, a cluster and a bucket, and all that was printed."""

    root: Path
    store: str
    environment: dict[str, str]
    printed: dict[str, bytes] = field(default_factory=dict)
    command_lines: set[bytes] = field(default_factory=set)

    @property
    def top(self) -> Path:
        """Folder of everything: checkout, home, PULUMI_HOME, TMPDIR."""
        return self.root.parent

    @property
    def home(self) -> Path:
        """Home of the simulated cluster."""
        return self.root / ".sim" / "lab"

    @property
    def api(self) -> Api:
        """The API server, as the administrator."""
        server = Server(self.home / "kubeconfig")
        return Api(server, lambda: server.token, "the test")

    @property
    def settings(self) -> Path:
        """The settings file of the stack."""
        return self.root / "Pulumi.lab.yaml"

    def start(self, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        """Start ./hpc."""
        return subprocess.Popen(
            [sys.executable, str(self.root / "cli"), *words],
            cwd=self.root,
            env={**self.environment, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def ended(self, what: str, process: subprocess.Popen[bytes], given: str = "") -> int:
        """Store what a process prints until its exit; return its status."""
        output, _ = process.communicate(given.encode(), timeout=1200)
        place = f"{len(self.printed):02} {what}"
        self.printed[place] = output
        return process.returncode

    def run(self, *words: str, given: str = "", status: int | None = 0, **variables: str) -> str:
        """Run ./hpc with its stack; return what it printed."""
        what = " ".join(words)
        ended = self.ended(what, self.start(*_with_stack(words), **variables), given)
        said = list(self.printed.values())[-1].decode(errors="replace")
        assert status is None or ended == status, f"./hpc {what} ended with {ended}:\n{said[-4000:]}"
        return said

    def together(self, *commands: list[str]) -> None:
        """Run commands at once that change nothing; each with the stack."""
        started = [(" ".join(words), self.start(*_with_stack(words))) for words in commands]
        for what, process in started:
            self.ended(what, process)

    def pulumi(self, *words: str, given: str = "", status: int | None = 0, **variables: str) -> str:
        """Run plain pulumi."""
        return self.run("pulumi", "--", *words, given=given, status=status, **variables)

    def change(self, edit: Callable[[dict[str, Any]], None]) -> None:
        """Change the settings."""
        content = yaml.safe_load(self.settings.read_text())
        edit(content["config"]["hpc:platform"])
        self.settings.write_text(yaml.safe_dump(content, sort_keys=False))

    @property
    def client(self) -> Any:
        """The bucket's service."""
        key = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        return boto3.client("s3", endpoint_url=self.store, region_name="us-east-1", **key)

    def objects(self) -> Iterator[tuple[str, bytes]]:
        """Yield all versions of all objects of the bucket, with their metadata."""
        client = self.client
        for page in client.get_paginator("list_object_versions").paginate(Bucket=BUCKET):
            for each in page.get("Versions", ()):
                found = client.get_object(Bucket=BUCKET, Key=each["Key"], VersionId=each["VersionId"])
                yield f"{each['Key']} {each['VersionId']}", found["Body"].read()
                yield f"head of {each['Key']}", json.dumps(found["ResponseMetadata"]).encode()


def _with_stack(words: Sequence[str]) -> list[str]:
    own = 2 if words[0] == "state" else 1
    return [*words[:own], "--stack", "lab", *words[own:]]


def made(top: Path, store: str) -> Site:
    """Return a site in a folder, without a cluster, and with planted credentials in its environment."""
    root = top / "checkout"
    shutil.copytree(ROOT, root, ignore=_LEFT_OUT)
    (root / ".venv").symlink_to(Path(sys.prefix))
    for name in ("home", "tmp", "pulumi-home"):
        (top / name).mkdir()
    cache = os.environ.get("HPC_CACHE") or str(Path.home() / ".cache" / "hpc")
    outside = {key: text for key, text in os.environ.items() if not key.startswith(("PULUMI_", "HPC_", "AWS_", "GIT"))}
    return Site(
        root,
        store,
        {
            **outside,
            "HOME": str(top / "home"),
            "TMPDIR": str(top / "tmp"),
            "PULUMI_HOME": str(top / "pulumi-home"),
            "HPC_CACHE": cache,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_SECRET_ACCESS_KEY": planted.value("", "/+"),
            "AWS_SESSION_TOKEN": planted.value("", "/+=="),
            "PULUMI_CONFIG_PASSPHRASE": planted.value(*ODD),
            "GITHUB_TOKEN": planted.value("ghp_"),
            "HPC_GITLAB_TOKEN": planted.value("glpat-"),
        },
    )


def write_settings(root: Path, store: str) -> None:
    """Write the settings of the stack, which takes the cluster for a real one, with its state in the bucket."""
    content = in_one(root / "Pulumi.dev.yaml")
    platform = content["config"]["hpc:platform"]
    platform["cluster"] |= {
        "kubeconfig": "~/.kube/config",
        "context": "hpc-sim-lab",
        "identifier": "lab",
        "simulated": False,
    }
    platform["state"] = {"backend": f"s3://{BUCKET}?endpoint={store}&s3ForcePathStyle=true&region=us-east-1"}
    platform["pull_secret"] = {"registries": [REGISTRY]}
    platform["stages"] = [{**platform["stages"][1], "workloads": platform["stages"][1]["workloads"][:1]}]
    (root / "Pulumi.lab.yaml").write_text(yaml.safe_dump({"config": {"hpc:platform": platform}}, sort_keys=False))
