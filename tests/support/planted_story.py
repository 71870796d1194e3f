"""Everything that writes or prints, done at one site: updates, reviews, repairs, failures and kills."""

import base64
import http.server
import json
import os
import signal
import subprocess
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from apis import kinds
from simulator.processes import procfs
from tests.support import planted
from tests.support.lab import eventually
from tests.support.planted_site import ODD, REGISTRY, Site

SCALE = "ibm-spectrum-scale-csi-driver"
DEBUGGED = ("preview", "--logtostderr", "-v=9")
"""The engine itself then prints what passes between it and the program, as it is: docs/operations.md warns of it."""
RAISING = """

def broken(known):
    raise ValueError(f"a program of somebody, with passwords in hand: {known}")

accounts.guis.apply(broken)
"""


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def run_everything(site: Site) -> None:
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
