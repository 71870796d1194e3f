"""Everything that writes or prints, done at one site: docs/guide/operations.md, with failures and kills in between."""

import base64
import http.server
import json
import os
import signal
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from components.tenants.pull_secret import KEY
from core.apis import kinds
from tests.support import planted
from tests.support.lab import eventually
from tests.support.page_blocks import Block, blocks, change
from tests.support.planted_site import ODD, PROVIDER, REGISTRY, STORE, Site
from tests.support.recorded import ROOT
from toolkit.simulator.processes import procfs

PAGE_BLOCKS = tuple(blocks(ROOT / "docs" / "guide" / "operations.md"))
LAST = "Removing the environment"
"""The heading of what is not followed here: nothing would be left to search."""
SCALE = "ibm-spectrum-scale-csi-driver"
DEBUGGED = ("pulumi", "preview", "--json", "--logtostderr", "-v=9")
"""The engine itself then prints what passes between it and the program."""
RAISING = """

def broken(known):
    raise ValueError(f"a program of somebody, with passwords in hand: {known}")

accounts.guis.apply(broken)
"""


def run_everything(site: Site) -> None:
    """Follow the page but for its end, with more in between, and then do what it does not name."""
    between = {
        "Adding a tenant": _new_accounts,
        "From pull request to update": _change_out_of_band,
        "Drift": _change_out_of_band,
        "After an update that was killed": _be_killed,
        "Existing objects": _lose_an_object,
    }
    for block in PAGE_BLOCKS:
        if block.heading == LAST:
            break
        if block.heading in between:
            between.pop(block.heading)(site)
        follow(site, block)
    assert not between, f"headings that the page does not have: {', '.join(between)}"
    _adopt(site)
    _show(site)
    _fail(site)
    _in_a_folder(site)


def follow(site: Site, block: Block) -> None:
    """Follow a block of the page, with the address of this store, and with the settings adjusted."""
    text = block.text.replace(STORE, site.store)
    site.followed += 1
    if block.info.startswith("yaml "):
        change(site.root / block.info.removeprefix("yaml "), text)
        return
    site.walk(text)
    if text.startswith("cp "):
        site.change(_adjust)
    passphrase = site.top / "home" / "lab.passphrase"
    if passphrase.exists():
        site.environment["PULUMI_CONFIG_PASSPHRASE_FILE"] = str(passphrase)


def _adjust(platform: dict[str, Any]) -> None:
    """Keep one job, and use the accounts of the registry."""
    nodes = platform["stages"][1]
    platform["stages"] = [{**nodes, "workloads": nodes["workloads"][:1]}]
    platform["pull_secret"] = {"registries": [REGISTRY]}


def _new_accounts(site: Site) -> None:
    names = ("csisecret-local", "csisecret-remote")
    accounts = {name: {part: planted.value(*ODD) for part in ("username", "password")} for name in names}
    site.pulumi("config", "set", "--secret", "hpc:scaleGui", stdin=json.dumps(accounts))


def _show(site: Site) -> None:
    site.environment["HPC_KUBECONFIG"] = (site.home / "kubeconfig").read_text()
    site.change(lambda platform: platform["cluster"].update(kubeconfig="~/.kube/config"))
    site.run("ci", "kubeconfig")
    site.run("pulumi", "preview", "--debug", "--diff", "--show-sames")
    site.run(*DEBUGGED)
    site.together(
        ["verify", "--all"],
        ["status"],
        ["render", "-o", "rendered"],
        ["ci", "policy-config"],
        ["hardware", "show"],
        ["pulumi", "--print-env"],
        ["pulumi", "--", "stack", "history", "--full-dates", "--json"],
        ["pulumi", "--", "config", "--json"],
        ["pulumi", "--", "stack", "graph", "graph.dot"],
        ["pulumi", "--", "stack", "output", "--json"],
    )
    site.run("report", "-o", "report")
    site.ended("check", site.start("check", "rendered"))


def _patched(site: Site, name: str, namespace: str, key: str, value: str) -> None:
    """Put another value into a Secret out of band, as `kubectl apply` does: with all of it in an annotation, too."""
    new = {"data": {key: base64.b64encode(value.encode()).decode()}}
    applied = {"kind": "Secret", "metadata": {"name": name}, **new, "stringData": {key: value}}
    note = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(applied)}
    site.api.patch(kinds.SECRET, name, {"metadata": {"annotations": note}, **new}, namespace)


def _change_out_of_band(site: Site) -> None:
    _patched(site, "csisecret-local", SCALE, "password", planted.value(*ODD))


def _lose_an_object(site: Site) -> None:
    """Take over from the cluster what has changed in an object, and have the state forget another, which then changes.

    No job depends on the forgotten one: what is adopted stays at the end, and a job would keep its claim.
    """
    _change_out_of_band(site)
    site.pulumi("refresh", "--yes", "--diff")
    exported = json.loads(_output(site, "stack", "export"))["deployment"]["resources"]
    (lost,) = (resource for resource in exported if "PullSecret$kubernetes:core/v1:Secret::vision" in resource["urn"])
    site.pulumi("state", "delete", "--yes", "--target-dependents", lost["urn"])
    accounts = json.dumps({"auths": {REGISTRY: {"auth": planted.value(*ODD)}}})
    _patched(site, lost["outputs"]["metadata"]["name"], "vision", KEY, accounts)


def _output(site: Site, *words: str) -> str:
    site.pulumi(*words)
    return next(output for place, output in reversed(site.printed.items()) if not place.endswith(", stderr")).decode()


def _adopt(site: Site) -> None:
    site.run("state", "adopt", "--yes", "--import-file", "import.json")


def _fail(site: Site) -> None:
    site.run("pulumi", "preview", status=1, PULUMI_CONFIG_PASSPHRASE=planted.value(), PULUMI_CONFIG_PASSPHRASE_FILE="")
    program = site.root / "__main__.py"
    original = program.read_text()
    settings, loop, _ = original.partition("\nfor name, value in environment.build(")
    assert loop
    program.write_text(settings + RAISING)
    site.run("up", status=1)
    site.run("diff", "-o", "raised.md", "--json", "raised.json", status=1)
    program.write_text(original)
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
            site.ended("comment", site.start("ci", "comment", "out/lab.md", **host))
        server.shutdown()


def _be_killed(site: Site) -> None:
    """Interrupt an update, and kill it before it has written down where it is; the settings are committed."""
    _updating(site, 2, lambda pid: ((pid, signal.SIGINT), *_each(pid, signal.SIGKILL, b"pulumi\0up\0")))
    site.git("commit", "-qam", "Run a job again, with new accounts")


def _updating(site: Site, run: int, ends: Callable[[int], Iterable[tuple[int, signal.Signals]]]) -> None:
    """Start an update, and send signals to processes of it when it has brought a new value to the cluster."""
    before = _remote_account(site)
    _new_accounts(site)
    site.change(lambda platform: platform["stages"][0]["workloads"][0].update(run=run))
    process = site.start("up", "--stack", "lab")
    eventually(partial(_differs, site, before), "no update", process.poll)
    for pid, how in ends(process.pid):
        os.kill(pid, how)
    site.ended("up", process)
    assert process.returncode != 0


def _remote_account(site: Site) -> Any:
    return site.api.get(kinds.SECRET, "csisecret-remote", SCALE)["data"]


def _differs(site: Site, before: Any) -> bool:
    return bool(_remote_account(site) != before)


def _each(pid: int, how: signal.Signals, *words: bytes) -> list[tuple[int, signal.Signals]]:
    below = [(process, how) for process in _below(pid, words)]
    assert below, f"no process of the update has {words} in its command line"
    return below


def _below(pid: int, words: Sequence[bytes]) -> list[int]:
    """Return the descendants of a process whose command contains one of some words."""
    above: dict[int, int] = {}
    commands: dict[int, bytes] = {}
    for number in procfs.pids():
        with suppress(OSError):
            above[number] = int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
            commands[number] = Path(f"/proc/{number}/cmdline").read_bytes()
    descendants = []
    for number, command in commands.items():
        parent = number
        while (parent := above.get(parent, 0)) > 1:
            if parent == pid and any(word in command for word in words):
                descendants.append(number)
    return descendants


def _in_a_folder(site: Site) -> None:
    """Move the state to a folder, with the passphrase in the environment; there an update loses its provider."""
    site.environment["PULUMI_CONFIG_PASSPHRASE"] = (
        Path(site.environment.pop("PULUMI_CONFIG_PASSPHRASE_FILE")).read_text().rstrip("\n")
    )
    folder = site.top / "folder"
    site.run("state", "backup", "-o", "moved.json")
    site.change(lambda platform: platform.update(state={"backend": f"file://{folder}"}))
    folder.mkdir()
    site.run("state", "init")
    site.run("state", "restore", "--from", "moved.json", "--yes")
    _updating(site, 3, lambda pid: _each(pid, signal.SIGSEGV, *PROVIDER))
    site.run("state", "repair")
