"""A workstation with a checkout, a cluster and a bucket, in which values are planted; all that its commands print."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import yaml

from tests.support import checkouts, planted
from tests.support.page_blocks import walked
from toolkit.simulator.actors.api import Api, Server

BUCKET = "hpc-lab-state"
REGISTRY = "nvcr.io"
STORE = "https://s3.lab.example.com"
"""What docs/guide/operations.md calls the address of the object store."""
ODD = ('q"\\', "/+ %ü")
"""What stands around values, so that those which quote or escape have something to do."""
PROVIDER = (b"pulumi-resource-kubernetes", b"start.py\0provider")
"""What the provider's command line has: the official one's, and the stand-in's, whose script is replaced by Python."""
_KUBECTL = """#!{python}
import json, sys
from kubernetes import client, config
words = sys.argv[1:]
value = lambda name: words[words.index(name) + 1]
kind, name = words[words.index("patch") + 1 :][:2]
assert kind == "resourcequota"
config.load_kube_config(value("--kubeconfig"))
patch = client.CoreV1Api().patch_namespaced_resource_quota
patch(name, value("-n"), json.loads(value("-p")), field_manager="kubectl-patch")
"""
_OPENSSL = """#!{python}
import secrets, sys
assert sys.argv[1:3] == ["rand", "-base64"]
print({before!r} + {mark!r} + secrets.token_hex(7) + {after!r})
"""


@dataclass
class Site:
    """A workstation, a cluster and a bucket, and all that was printed."""

    root: Path
    store: str
    environment: dict[str, str]
    exports: Path
    """What the user's shell has exported, in a file."""
    followed: int = 0
    """How many blocks of the page have been followed."""
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
            [sys.executable, str(self.root / "toolkit" / "cli"), *words],
            cwd=self.root,
            env={**self.environment, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def ended(self, what: str, process: subprocess.Popen[bytes], stdin: str = "") -> str:
        """Store what a process prints until its exit, and return it."""
        output, complaints = process.communicate(stdin.encode(), timeout=1200)
        place = f"{len(self.printed):03} {what}"
        self.printed |= {place: output, f"{place}, stderr": complaints}
        return (output + complaints).decode(errors="replace")

    def run(self, *words: str, stdin: str = "", status: int | None = 0, **variables: str) -> str:
        """Run ./hpc with its stack; return what it printed."""
        command = " ".join(words)
        process = self.start(*_with_stack(words), **variables)
        output = self.ended(command, process, stdin)
        assert status is None or process.returncode == status, (
            f"./hpc {command}: {process.returncode}:\n{output[-4000:]}"
        )
        return output

    def walk(self, block: str) -> None:
        """Run a block of a page in the user's shell."""
        text = f". {self.exports}\n{block}\nexport -p > {self.exports}\n"
        self.printed[f"{len(self.printed):03} {block}"] = walked(text, self.root, self.environment).encode()

    def together(self, *commands: list[str]) -> None:
        """Run commands at once that change nothing; each with the stack."""
        started = [(" ".join(words), self.start(*_with_stack(words))) for words in commands]
        for command, process in started:
            self.ended(command, process)

    def pulumi(self, *words: str, stdin: str = "", status: int | None = 0, **variables: str) -> str:
        """Run plain pulumi."""
        return self.run("pulumi", "--", *words, stdin=stdin, status=status, **variables)

    def change(self, edit: Callable[[dict[str, Any]], None]) -> None:
        """Change the settings."""
        content = yaml.safe_load(self.settings.read_text())
        edit(content["config"]["hpc:platform"])
        self.settings.write_text(yaml.safe_dump(content, sort_keys=False))

    def git(self, *words: str) -> None:
        """Run git in the checkout, as a clone has it."""
        subprocess.run(["git", *words], cwd=self.root, env=self.environment, check=True)

    @property
    def client(self) -> Any:
        """The bucket's service."""
        key = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        return boto3.client("s3", endpoint_url=self.store, region_name="us-east-1", **key)

    def objects(self) -> Iterator[tuple[str, bytes]]:
        """Yield all versions of all objects of the bucket, with their metadata."""
        client = self.client
        for page in client.get_paginator("list_object_versions").paginate(Bucket=BUCKET):
            for entry in page.get("Versions", ()):
                obj = client.get_object(Bucket=BUCKET, Key=entry["Key"], VersionId=entry["VersionId"])
                yield f"{entry['Key']} {entry['VersionId']}", obj["Body"].read()
                yield f"head of {entry['Key']}", json.dumps(obj["ResponseMetadata"]).encode()


def _with_stack(words: Sequence[str]) -> list[str]:
    length = 2 if words[0] in {"ci", "hardware", "state"} else 1
    return [*words[:length], "--stack", "lab", *words[length:]]


def made(top: Path, tools: Path, store: str) -> Site:
    """Return a site in a folder, without a cluster, and with planted credentials in its environment.

    `tools` is a folder for what stands in place of kubectl, and of openssl, whose random values have to be recognised.
    """
    root = checkouts.copy(top)
    for name in ("home", "tmp", "pulumi-home"):
        (top / name).mkdir()
    before, after = ODD
    for name, text in (("kubectl", _KUBECTL), ("openssl", _OPENSSL)):
        (tools / name).write_text(text.format(python=sys.executable, before=before, mark=planted.MARK, after=after))
        (tools / name).chmod(0o755)
    (tools / "exports").touch()
    cache = os.environ.get("HPC_CACHE") or str(Path.home() / ".cache" / "hpc")
    outside = {key: text for key, text in os.environ.items() if not key.startswith(("PULUMI_", "HPC_", "AWS_", "GIT"))}
    user = {"NAME": "lab", "EMAIL": "lab@example.com"}
    site = Site(
        root,
        store,
        {
            **outside,
            **{f"GIT_{role}_{part}": text for role in ("AUTHOR", "COMMITTER") for part, text in user.items()},
            "PATH": f"{tools}:{outside['PATH']}",
            "HOME": str(top / "home"),
            "TMPDIR": str(top / "tmp"),
            "PULUMI_HOME": str(top / "pulumi-home"),
            "HPC_CACHE": cache,
            "MAKEFLAGS": "-o .venv/.installed",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_SECRET_ACCESS_KEY": planted.value("", "/+"),
            "AWS_SESSION_TOKEN": planted.value("", "/+=="),
            "ROBOT_TOKEN": planted.value(*ODD),
            "GITHUB_TOKEN": planted.value("ghp_"),
            "HPC_GITLAB_TOKEN": planted.value("glpat-"),
        },
        tools / "exports",
    )
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "hpc"]):
        site.git(*words)
    return site
