"""Secrets are in plain text only where they must be: values are planted, every command runs, every byte is searched.

The stack takes its cluster for a real one, with its state in a bucket and then in a folder. The run happens once; the
tests read what it has left. What may be found, and why, is in ALLOWED.
"""

import base64
import gzip
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml

from apis import kinds
from simulator import cluster
from simulator.actors.api import Api, Server
from simulator.processes import Processes, procfs
from tests.support import planted
from tests.support.clusters import FULL, require_tools
from tests.support.lab import eventually
from tests.support.planted import Found, Search
from tests.support.recorded import ROOT
from tests.support.stack_settings import in_one

pytestmark = pytest.mark.cluster

SCALE, BUCKET = "ibm-spectrum-scale-csi-driver", "planted"
REGISTRY = "registry.example.com"
ODD = ('q"\\', "/+ %ü")
"""What stands around values, so that those which quote or escape have something to do."""
ALLOWED = {
    r"checkout/\.sim/lab/data/etcd/.*": "the cluster's store: Secrets are there, as in any cluster",
    r"checkout/\.sim/lab/kubeconfig": "the person's credentials for the cluster",
    r"checkout/\.sim/lab/pki/tokens\.csv": "by which the API server knows the person",
    r"home/\.kube/config": "the kubeconfig where the settings look for it, written from HPC_KUBECONFIG",
    r"passphrase\.new": "the file in which the person keeps the passphrase",
}
"""Where a value may be, and why; each closed to others, itself or by a folder above it."""
DEBUGGED = ("preview", "--logtostderr", "-v=9")
"""The engine itself then prints what passes between it and the program, as it is: docs/operations.md warns of it."""
PROVIDER = (b"pulumi-resource-kubernetes", b"start.py\0provider")
"""What the provider's command line has: the official one's, and the stand-in's, whose script is replaced by Python."""
_LINK = r"checkout/\.venv/.*"
RAISING = """

def broken(known):
    raise ValueError(f"a program of somebody, with passwords in hand: {known}")

accounts.guis.apply(broken)
"""
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


def _settings(root: Path, store: str) -> None:
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


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _story(site: Site) -> None:
    """Do everything that writes or prints."""
    _begin(site)
    _show(site)
    _change_out_of_band(site)
    _keep_state(site)
    _fail(site)
    _be_killed(site)
    _in_a_folder(site)


def _accounts(*names: str) -> str:
    return json.dumps({name: {part: planted.value(*ODD) for part in ("username", "password")} for name in names})


def _new_accounts(site: Site) -> None:
    site.pulumi("config", "set", "--secret", "hpc:scaleGui", given=_accounts("csisecret-local", "csisecret-remote"))


def _begin(site: Site) -> None:
    site.run("kubeconfig")
    site.run("state", "init")
    _new_accounts(site)
    site.pulumi("config", "set", "--secret", "hpc:registryAccounts", given=_accounts(REGISTRY))
    git = ["git", "-c", "user.name=lab", "-c", "user.email=lab@example.com"]
    for words in (
        ["init", "-q"],
        ["add", "Pulumi.lab.yaml", "Pulumi.yaml", *_program(site.root)],
        ["commit", "-qm", "x"],
    ):
        subprocess.run([*git, *words], cwd=site.root, check=True)
    site.run("up")


def _program(root: Path) -> list[str]:
    rooms = (
        "apis",
        "hardware",
        "policies",
        "rendering",
        "components",
        "stacks",
        "cli",
        "review",
        "simulator",
        "evidence",
    )
    return [name for name in ("__main__.py", "hpc", "pyproject.toml", *rooms) if (root / name).exists()]


def _show(site: Site) -> None:
    _new_accounts(site)
    site.change(lambda platform: platform["tenants"][0].update(gpu_quota=8))
    site.run("preview", "--debug", "--diff", "--show-sames")
    site.run("preview", "--json")
    site.run(*DEBUGGED)
    site.run("diff", "-o", "diff.md", "--json", "diff.json", "--plan", "plan.json")
    site.run("state", "backup", "-o", "backup.json")
    site.run("up", "--plan", "plan.json")
    site.together(
        ["diff", "--base", "HEAD", "-o", "base.md", "--json", "base.json"],
        ["verify", "--all"],
        ["status"],
        ["render", "-o", "rendered"],
        ["policy-config"],
        ["plan"],
        ["env"],
        ["pulumi", "--", "stack", "history", "--full-dates", "--json"],
        ["pulumi", "--", "config", "--json"],
        ["pulumi", "--", "stack", "graph", "graph.dot"],
        ["pulumi", "--", "stack", "output", "--json"],
        ["state", "check"],
        ["state", "list", "--all"],
    )
    site.run("report", "-o", "report")
    site.ended("check", site.start("check", "rendered"))


def _patched(site: Site, name: str, namespace: str, key: str) -> None:
    """Put another value into a Secret out of band, as `kubectl apply` does: with all of it in an annotation, too."""
    new = {"data": {key: _encoded(planted.value(*ODD))}}
    applied = {"kind": "Secret", "metadata": {"name": name}, **new, "stringData": {key: planted.value(*ODD)}}
    note = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(applied)}
    site.api.patch(kinds.SECRET, name, {"metadata": {"annotations": note}, **new}, namespace)


def _change_out_of_band(site: Site) -> None:
    _patched(site, "csisecret-local", SCALE, "password")
    site.run("drift", "-o", "drift.md", "--json", "drift.json", status=1)
    site.pulumi("refresh", "--yes", "--diff")
    exported = json.loads(site.pulumi("stack", "export"))["deployment"]["resources"]
    (urn,) = (each["urn"] for each in exported if each["urn"].endswith("core/v1:Secret::scale-csi-csisecret-remote"))
    site.pulumi("state", "delete", "--yes", "--target-dependents", urn)
    _patched(site, "csisecret-remote", SCALE, "username")
    site.run("adopt", "-o", "adopt.md", "--import-file", "import.json")
    site.run("adopt", "--yes")
    _patched(site, "csisecret-local", SCALE, "password")
    site.run("preview", "--repair")
    site.run("up", "--repair")


def _keep_state(site: Site) -> None:
    site.run("state", "restore", "--from", "backup.json", "--yes")
    new = site.top / "passphrase.new"
    new.write_text(planted.value())
    new.chmod(0o600)
    site.run("state", "rotate", "--passphrase-file", str(new))
    wrong = {"PULUMI_CONFIG_PASSPHRASE": planted.value()}
    site.run("preview", status=1, **wrong)
    site.environment["PULUMI_CONFIG_PASSPHRASE"] = new.read_text()


def _fail(site: Site) -> None:
    program = site.root / "__main__.py"
    kept = program.read_text()
    program.write_text(kept + RAISING)
    site.run("up", status=1)
    site.run("diff", "-o", "raised.md", status=1)
    program.write_text(kept)
    proxy = planted.value("http://user:", "@127.0.0.1:9")
    elsewhere = "s3://bucket?endpoint=https://s3.example.invalid&region=us-east-1"
    site.ended("state check", site.start("state", "check", "--backend", elsewhere, HTTPS_PROXY=proxy))
    site.run("up", status=1, PULUMI_BACKEND_URL=planted.value("postgres://user:", "@db.example.invalid/x"))
    _comments(site)


def _comments(site: Site) -> None:
    class Refuses(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(500)
            self.end_headers()
            # Some proxies say what they were asked.
            self.wfile.write(json.dumps({"message": str(self.headers)}).encode())

        do_POST = do_GET

        def log_message(self, *words: object) -> None:
            """Print nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        event = site.top / "event.json"
        event.write_text(json.dumps({"pull_request": {"number": 1}}))
        github = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": url,
            "GITHUB_REPOSITORY": "a/b",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_STEP_SUMMARY": str(site.top / "summary.md"),
        }
        gitlab = {"GITLAB_CI": "true", "CI_API_V4_URL": url, "CI_PROJECT_ID": "1", "CI_MERGE_REQUEST_IID": "1"}
        for host in (github, gitlab):
            site.ended("comment", site.start("comment", "diff.md", **host))
        server.shutdown()


def _be_killed(site: Site) -> None:
    """Kill updates after they have brought a new value to the cluster, in three ways."""
    ways = (("hpc", signal.SIGINT), ("resource-kubernetes", signal.SIGSEGV), ("pulumi", signal.SIGKILL))
    for number, (word, how) in enumerate(ways):
        before = _remote_account(site)
        _new_accounts(site)
        _run_jobs_again(site, number + 2)
        process = site.start("up", "--stack", "lab")
        eventually(partial(_differs, site, before), "no update", process.poll)
        for pid in (process.pid,) if how == signal.SIGINT else _below(process.pid, word):
            os.kill(pid, how)
        site.ended(f"up, {how.name} to {word}", process)
    site.run("state", "repair")
    site.run("up")


def _remote_account(site: Site) -> Any:
    return site.api.get(kinds.SECRET, "csisecret-remote", SCALE)["data"]


def _differs(site: Site, before: Any) -> bool:
    return bool(_remote_account(site) != before)


def _run_jobs_again(site: Site, run: int) -> None:
    site.change(lambda platform: platform["stages"][0]["workloads"][0].update(run=run))


def _below(pid: int, word: str) -> list[int]:
    """Return the descendants of a process whose command contains a word."""
    above: dict[int, int] = {}
    commands: dict[int, str] = {}
    for each in procfs.pids():
        with suppress(OSError):
            above[each] = int(Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[1])
            commands[each] = Path(f"/proc/{each}/cmdline").read_text()
    found = []
    for each, command in commands.items():
        parent = each
        while (parent := above.get(parent, 0)) > 1:
            if parent == pid and word in command:
                found.append(each)
    return found


def _in_a_folder(site: Site) -> None:
    folder = site.top / "folder"
    site.run("state", "backup", "-o", "moved.json")
    site.change(lambda platform: platform.update(state={"backend": f"file://{folder}"}))
    folder.mkdir()
    site.run("state", "init")
    site.run("state", "restore", "--from", "moved.json", "--yes")
    _new_accounts(site)
    site.run("up")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, object_store: str) -> Iterator[Site]:
    """Give what every command has left."""
    require_tools(FULL)
    top = tmp_path_factory.mktemp("secrets")
    root = top / "checkout"
    shutil.copytree(ROOT, root, ignore=_LEFT_OUT)
    (root / ".venv").symlink_to(Path(sys.prefix))
    for name in ("home", "tmp", "pulumi-home"):
        (top / name).mkdir()
    cache = os.environ.get("HPC_CACHE") or str(Path.home() / ".cache" / "hpc")
    outside = {key: text for key, text in os.environ.items() if not key.startswith(("PULUMI_", "HPC_", "AWS_", "GIT"))}
    made = Site(
        root,
        object_store,
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
    try:
        made.ended("sim up", made.start("sim", "up", "--stack", "dev", "--name", "lab"))
        made.environment["HPC_KUBECONFIG"] = (made.home / "kubeconfig").read_text()
        _settings(root, object_store)
        with planted.command_lines() as made.command_lines:
            _story(made)
        yield made
    finally:
        if made.home.exists():
            cluster.clean(made.home)


def _search(site: Site) -> Search:
    return Search({"the kubeconfig's token": site.api.server.token})


def test_nothing_printed_holds_a_secret(site: Site) -> None:
    """No output of previews, reviews, failed and killed updates has a secret; only the engine's debugging does."""
    search = _search(site)
    found = [each for place, output in site.printed.items() for each in search.content(place, output)]
    debugged = [each for each in found if each.place.endswith(" ".join(DEBUGGED))]
    assert debugged, "the engine hides secrets now: take the warning out of docs/operations.md"
    assert len(debugged) == len(found), _told([each for each in found if each not in debugged])
    said = b"".join(site.printed.values()).decode(errors="replace")
    # What was to print secrets has been there.
    for words in ("another secret", "[secret]", "passwords in hand", "adopted: "):
        assert words in said, words


def test_no_file_holds_a_secret(site: Site) -> None:
    """No state, backup, plan, report, manifest or log has a secret; the few files that must are closed to others."""
    found = list(_search(site).files(site.top, [_LINK]))
    wrong = [each for each in found if not any(re.fullmatch(allowed, each.place) for allowed in ALLOWED)]
    assert not wrong, _told(wrong)
    for allowed in ALLOWED:
        places = {each.place for each in found if re.fullmatch(allowed, each.place)}
        assert places, f"nothing is in {allowed} any more: take it out of the table"
        for place in places:
            closed = [site.top / place, *(site.top / place).parents]
            assert any(not path.stat().st_mode & 0o077 for path in closed[: closed.index(site.top)]), f"{place} is open"


def test_no_version_in_the_bucket_holds_a_secret(site: Site) -> None:
    """No version of a state in the bucket has a secret, nor has the history of any step of an update."""
    objects = dict(site.objects())
    assert sum(name.startswith(".pulumi/stacks/hpc/lab.json.gz ") for name in objects) > 10
    assert any(name.startswith(".pulumi/history/") for name in objects)
    search = _search(site)
    found = [each for name, content in objects.items() for each in search.content(name, content)]
    assert not found, _told(found)


def test_no_process_shows_a_secret(site: Site) -> None:
    """No command line, which all users of the machine can read, and no environment of the cluster has a secret."""
    search = _search(site)
    assert any(name in line for line in site.command_lines for name in PROVIDER), sorted(site.command_lines)
    found = [each for line in site.command_lines for each in search.content("command line", line)]
    running = Processes(site.home).running()
    assert "kube-apiserver" in running
    for name, record in running.items():
        found += search.content(f"environment of {name}", Path(f"/proc/{record.pid}/environ").read_bytes())
    assert not found, _told(found)


def test_the_search_would_find_them(site: Site) -> None:
    """The search finds a planted value in each encoding and in each kind of place."""
    search, odd = _search(site), planted.value(*ODD)
    ways = {
        "plain": odd.encode(),
        "JSON": json.dumps({"a": json.dumps({"b": odd})}).encode(),
        "URL": urllib.parse.quote(odd, safe="").encode(),
        "URL, all of it": "".join(f"%{byte:02X}" for byte in odd.encode()).encode(),
        "hex": odd.encode().hex().encode(),
        "UTF-16": odd.encode("utf-16"),
        **{f"base64 after {n}": base64.b64encode(b"x" * n + odd.encode() + b"yz") for n in range(3)},
        **{
            f"base64 of base64 after {n}": base64.b64encode(b"{" * n + base64.b64encode(odd.encode())) for n in range(3)
        },
    }
    folders = [site.top / "home", site.top / "tmp", site.top / "pulumi-home" / "logs", site.root, site.home / "logs"]
    for folder in folders:
        wanted = set()
        for number, content in enumerate(ways.values()):
            cut = gzip.compress(gzip.compress(content) + b"rest")[:-4]
            for form, packed in (("plain", b"before " + content), ("packed", gzip.compress(content)), ("cut", cut)):
                hidden = folder / f".control-{number}-{form}"
                hidden.write_bytes(packed)
                wanted.add(hidden.name)
        found = {Path(each.place).name for each in search.files(folder, [r"(?!\.control).*"])}
        for name in wanted:
            (folder / name).unlink()
        assert found == wanted, (folder, wanted - found)
    assert list(search.content("name", f"a {site.api.server.token} b".encode()))
    assert list(search.files(site.home / "data" / "etcd")), "the Secrets are in the cluster's store"

    site.client.put_object(Bucket=BUCKET, Key="control", Body=gzip.compress(ways["JSON"]), Metadata={})
    site.client.put_object(Bucket=BUCKET, Key="control", Body=b"", Metadata={"a": planted.value()})
    controls = [list(search.content(name, content)) for name, content in site.objects() if "control" in name]
    assert [bool(found) for found in controls].count(True) == 2, "a body, and the head of the other version"

    with planted.command_lines() as seen:
        subprocess.run([sys.executable, "-c", "import time; time.sleep(0.5)", odd], check=True)
    assert any(list(search.content("command line", line)) for line in seen)


def test_what_env_prints(site: Site) -> None:
    """`./hpc env` prints no keys and passphrases: the shell has them already."""
    (said,) = (output.decode() for place, output in site.printed.items() if place.endswith(" env"))
    names = {line.removeprefix("export ").partition("=")[0] for line in said.splitlines() if line.startswith("export ")}
    assert names == {
        "PATH",
        "PULUMI_SKIP_UPDATE_CHECK",
        "PULUMI_STACK",
        "PULUMI_OPTION_CONFIG_FILE",
        "PULUMI_OPTION_CWD",
        "PULUMI_OPTION_STACK",
        "PULUMI_BACKEND_URL",
        "PULUMI_DIY_BACKEND_GZIP",
    }


def _told(found: list[Found]) -> str:
    return f"{len(found)} places:\n" + "\n".join(str(each)[:400] for each in found[:10])
