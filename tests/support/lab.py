"""A lab: a copy of the checkout with a simulated cluster of its own, driven as a user drives it."""

import copy
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from core.apis import kinds
from core.apis.kinds import Kind
from tests.support import checkouts
from tests.support.recorded import environment
from tests.support.stack_settings import in_one
from toolkit.render.manifests import manifests
from toolkit.simulator.actors.api import Api, Server

SETTINGS = "Pulumi.dev.yaml"
_BINDING = "pv.kubernetes.io/"
"""Annotations by which a claim counts as bound; one that comes back is not."""
_PATIENCE = 600.0  # seconds until a state that must come counts as not coming


@dataclass(frozen=True)
class Lab:
    """One checkout with its cluster."""

    root: Path

    @property
    def kubeconfig(self) -> Path:
        """Kubeconfig of the user."""
        return self.root / ".sim" / "default" / "kubeconfig"

    @property
    def api(self) -> Api:
        """The API server, as the user."""
        server = Server(self.kubeconfig)
        return Api(server, lambda: server.token, "the test")

    def hpc(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of ./hpc."""
        outside = {key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "HPC_SIM"))}
        return subprocess.run(
            [sys.executable, str(self.root / "toolkit" / "cli"), *arguments],
            cwd=self.root,
            env=outside,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def works(self, *arguments: str) -> str:
        """Run a command that must succeed, and return what it printed."""
        done = self.hpc(*arguments)
        assert done.returncode == 0, f"./hpc {' '.join(arguments)} ended with {done.returncode}:\n{_end(done)}"
        return done.stdout

    def fails(self, *arguments: str) -> str:
        """Run a command that must fail, and return what it printed."""
        done = self.hpc(*arguments)
        assert done.returncode != 0, f"./hpc {' '.join(arguments)} should have failed:\n{_end(done)}"
        assert "Traceback (most recent call last)" not in _both(done)
        return _both(done)

    def change(self, edit: Callable[[dict[str, Any]], None]) -> None:
        """Change the settings of stack dev."""
        file = self.root / SETTINGS
        content = in_one(file)
        edit(content["config"]["hpc:platform"])
        file.write_text(yaml.safe_dump(content))

    def take(self, kind: Kind, name: str, namespace: str | None = None) -> dict[str, Any]:
        """Delete an object, wait until it is gone, and return what `put` needs to bring it back."""
        obj = self.api.get(kind, name, namespace)
        self.api.delete(kind, name, namespace)
        eventually(lambda: self.api.find(kind, name, namespace) is None, f"{kind.kind} {name} is still there")
        return obj

    def put(self, kind: Kind, obj: dict[str, Any]) -> None:
        """Bring an object back that was taken."""
        identity = ("name", "namespace", "labels")
        metadata = {key: value for key, value in obj["metadata"].items() if key in identity}
        annotations = obj["metadata"].get("annotations", {})
        metadata["annotations"] = {key: text for key, text in annotations.items() if not key.startswith(_BINDING)}
        body = {key: value for key, value in obj.items() if key != "status"} | {"metadata": metadata}
        if "claimRef" in body.get("spec", {}):
            # The old claim's identity would bind the volume to a claim that no longer exists.
            body["spec"]["claimRef"] = {key: body["spec"]["claimRef"][key] for key in ("kind", "namespace", "name")}
        self.api.create(kind, body, metadata.get("namespace"))

    @contextmanager
    def without(self, kind: Kind, name: str, namespace: str | None = None) -> Iterator[Callable[[], None]]:
        """Take an object away; yield what brings it back, which happens at the end in any case."""
        obj = self.take(kind, name, namespace)

        def bring_back() -> None:
            if self.api.find(kind, name, namespace) is None:
                self.put(kind, obj)

        try:
            yield bring_back
        finally:
            bring_back()

    def pods(self, selector: str, namespace: str = "adas") -> list[dict[str, Any]]:
        """Return pods by label."""
        return list(self.api.list(kinds.POD, namespace, selector)["items"])

    def catches_up(self) -> None:
        """Wait until a Job that is created now has run: what has had its cause before it, has happened by then.

        It takes the way of any workload: a controller makes its pod, the scheduler places it, a kubelet runs it.
        """
        pod = {"containers": [{"name": "c", "image": "example.com/any:1"}], "restartPolicy": "Never"}
        body = {"metadata": {"name": "marker"}, "spec": {"template": {"spec": pod}}}
        self.api.create(kinds.JOB, {"apiVersion": "batch/v1", "kind": "Job", **body}, "adas")
        try:
            eventually(
                lambda: bool(self.api.get(kinds.JOB, "marker", "adas").get("status", {}).get("succeeded")),
                "a plain Job does not run",
            )
        finally:
            self.take(kinds.JOB, "marker", "adas")

    @contextmanager
    def job(self) -> Iterator["Probe"]:
        """Submit the two-node NCCL job of dev under another name, without the engine, and delete it at the end."""
        (manifest,) = [
            candidate
            for candidate in manifests(environment("dev"))
            if candidate["metadata"]["name"] == "nccl-test-02x08"
        ]
        manifest = copy.deepcopy(manifest)
        manifest["metadata"] = {"name": "probe", "namespace": "adas"}
        self.api.create(kinds.MPI_JOB_V1ALPHA2, manifest, "adas")
        try:
            yield Probe(self, "probe")
        finally:
            self.take(kinds.MPI_JOB_V1ALPHA2, "probe", "adas")
            eventually(lambda: not self.pods("mpi_job_name=probe"), "the probe's pods are still there")


@dataclass(frozen=True)
class Probe:
    """A job that was submitted without the engine."""

    lab: Lab
    name: str

    @property
    def workers(self) -> list[dict[str, Any]]:
        """Its worker pods."""
        return self.lab.pods(f"mpi_job_name={self.name},mpi_role_type=worker")

    @property
    def launcher_started(self) -> bool:
        """Whether its launcher's program runs or has run."""
        launchers = self.lab.pods(f"mpi_job_name={self.name},mpi_role_type=launcher")
        return any(pod["status"]["phase"] != "Pending" for pod in launchers)

    @property
    def conditions(self) -> set[str]:
        """Its conditions that are true."""
        status = self.lab.api.get(kinds.MPI_JOB_V1ALPHA2, self.name, "adas").get("status", {})
        return {condition["type"] for condition in status.get("conditions", ()) if condition["status"] == "True"}

    def complaints(self) -> str:
        """Return why its workers do not run, by the messages of scheduler and kubelet."""
        words = []
        for pod in self.workers:
            words += [condition.get("message", "") for condition in pod["status"].get("conditions", ())]
            for container in pod["status"].get("containerStatuses", ()):
                waiting = container["state"].get("waiting", {})
                words += [waiting.get("reason", ""), waiting.get("message", "")]
        return "\n".join(word for word in words if word)

    def stays_away(self, reason: str) -> None:
        """Check that the workers complain of `reason`, and that the job does not go on in spite of it."""
        eventually(lambda: reason in self.complaints(), f"no worker complains of {reason!r}", self.complaints)
        self.lab.catches_up()
        assert not self.launcher_started, "the launcher has started without its workers"
        assert not self.conditions & {"Running", "Succeeded"}

    def succeeds(self) -> None:
        """Check that the job runs to its good end."""
        eventually(lambda: "Succeeded" in self.conditions, "the job does not succeed", self.complaints)


def plain(lab: Lab, stack: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run plain `pulumi` in the environment that `./hpc pulumi --print-env` prints."""
    words = " ".join(arguments)
    return subprocess.run(
        [
            "bash",
            "-c",
            f'eval "$(./hpc pulumi --print-env --stack {stack})" && pulumi {words} --stack {stack} --non-interactive',
        ],
        cwd=lab.root,
        env={key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "HPC_SIM"))},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def eventually(holds: Callable[[], bool], otherwise: str, details: Callable[[], object] = str) -> None:
    """Wait until `holds`; fail with `otherwise` and `details` when it does not in time."""
    deadline = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"{otherwise}\n{details()}"
        time.sleep(0.1)


@contextmanager
def checkout(folder: Path) -> Iterator[Lab]:
    """Copy the checkout to `folder`, without what it built and ran; clean up its cluster at the end."""
    lab = Lab(checkouts.copy(folder))
    try:
        yield lab
    finally:
        lab.hpc("sim", "clean")


def _both(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout + done.stderr


def _end(done: subprocess.CompletedProcess[str]) -> str:
    """Return the last lines of what a command printed: CI shows only a part of a long failure."""
    return "\n".join(_both(done).splitlines()[-40:])
