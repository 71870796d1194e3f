"""A platform in the field: the manifests of a stack on a simulated cluster, past engine and policies, to be broken."""

import copy
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from core.progress import SILENT
from policies.check import Checker
from policies.configuration import Configuration
from policies.manifests.inventory import Inventory
from policies.manifests.objects import objects
from policies.rule import Severity
from stacks.settings.platform import Settings
from tests.support.lab import eventually
from tests.support.user import User
from toolkit.cli.shared import cluster_client
from toolkit.cli.shared.policy_configuration import configuration
from toolkit.cli.status.jobs import Job as Seen
from toolkit.cli.status.jobs import jobs
from toolkit.cli.status.overview import OURS
from toolkit.cli.verify import nodes
from toolkit.cli.verify.expectations import requests
from toolkit.cli.verify.job_logs import collect
from toolkit.evidence.judge import exit_status, judge
from toolkit.evidence.verdict import Verdict
from toolkit.simulator.actors.api import ApiError

Manifest = dict[str, Any]
Edit = Callable[[list[Manifest]], object]

SERVICE = Kind("", "v1", "Service", "services")
_WORK = frozenset({"Job", "MPIJob"})
_OWNED = (
    *(kinds.STATEFUL_SET, kinds.JOB, kinds.POD, kinds.CONFIG_MAP, kinds.SECRET, SERVICE),
    *(kinds.SERVICE_ACCOUNT, kinds.ROLE, kinds.ROLE_BINDING),
)
DONE = frozenset({"Succeeded", "Failed"})
_PATIENCE = 600.0  # seconds until a state that must come counts as not coming


@dataclass(frozen=True)
class Outcome:
    """What `./hpc verify` would print and return."""

    status: int
    verdicts: tuple[Verdict, ...]

    def of(self, criterion: str) -> list[Verdict]:
        """Return the verdicts by one criterion."""
        return [verdict for verdict in self.verdicts if verdict.criterion == criterion]

    def __str__(self) -> str:
        """Return what is not as it should be."""
        rows = [
            f"{verdict.job} {verdict.criterion} {verdict.status} {verdict.measured} {verdict.causes}"
            for verdict in self.verdicts
        ]
        return f"exit status {self.status}\n" + "\n".join(row for row in rows if " pass " not in row)


@dataclass(frozen=True)
class Field:
    """A stack whose platform is on a cluster, without its jobs and their Services; `healthy` are all its manifests."""

    api: User
    cluster: cluster_client.Cluster
    settings: Settings
    healthy: tuple[Manifest, ...]
    folder: Path

    def install(self) -> None:
        """Put the platform on the cluster, as far as each part's API is there, until all of it is."""
        work = {manifest["metadata"]["name"] for manifest in self.healthy if manifest["kind"] in _WORK}
        pending = [
            manifest
            for manifest in self.healthy
            if manifest["kind"] not in _WORK
            and not (manifest["kind"] == SERVICE.kind and manifest["metadata"]["name"] in work)
        ]
        deadline = time.monotonic() + _PATIENCE
        while pending := [manifest for manifest in pending if not self._applied(manifest)]:
            assert time.monotonic() < deadline, [manifest["metadata"]["name"] for manifest in pending]
            time.sleep(0.1)
        self.offered()

    def offered(self) -> None:
        """Wait until every node with GPUs offers them all, and each RDMA resource: plugins share those as they like."""
        for pool in self.settings.gpu_pools:
            resources = {"nvidia.com/gpu": pool.machine.gpus}
            resources |= {f"rdma/{name}": 1 for name in pool.rdma_resources}
            for node in pool.free:
                eventually(partial(self._offers, node, resources), f"{node} does not offer {resources}")

    def _offers(self, node: str, amounts: Mapping[str, int]) -> bool:
        return all(self.api.offers(node, resource) >= amount for resource, amount in amounts.items())

    @contextmanager
    def broken(self, edit: Edit) -> Iterator[list[Manifest]]:
        """Change what of the platform an edit changes, and yield the edited manifests; all is mended at the end."""
        broken = edited(self.healthy, edit)
        changed = [*_differences(self.healthy, broken)]
        try:
            for before, after in changed:
                self._replace(before, after)
            yield broken
        finally:
            for before, after in changed:
                self._replace(after, before)

    @contextmanager
    def running(self, manifests: Iterable[Manifest], *names: str, until: frozenset[str] = DONE) -> Iterator[None]:
        """Submit jobs, and wait until each has ended or is in a state of `until`; delete them at the end."""
        submitted = [
            manifest for manifest in manifests if manifest["kind"] in _WORK and manifest["metadata"]["name"] in names
        ]
        services = [
            manifest
            for manifest in self.healthy
            if manifest["kind"] == SERVICE.kind and manifest["metadata"]["name"] in names
        ]
        assert len(submitted) == len(names)
        try:
            for manifest in (*services, *submitted):
                self.api.create(_kind(manifest), manifest, manifest["metadata"]["namespace"])
            eventually(lambda: all(self._reached(name, until) for name in names), f"no end of {names}", self.seen)
            yield
        finally:
            for manifest in (*submitted, *services):
                self._delete(manifest)

    def _reached(self, name: str, until: frozenset[str]) -> bool:
        job = next((seen for seen in self.seen() if seen.name == name), None)
        return job is not None and (job.state in until or ("hindered" in until and bool(job.hindrances)))

    def seen(self) -> list[Seen]:
        """Return the jobs as `./hpc status` shows them."""
        return [*jobs(partial(self.cluster.list, labelSelector=OURS), self.cluster.list, self.settings.version.mpi_job)]

    def verified(self, *names: str) -> Outcome:
        """Collect and judge as `./hpc verify` does, with the nodes and these jobs."""
        requested = [request for request in requests(self.settings, {}) if request.job.partition("/")[2] in names]
        assert len(requested) == len(names)
        with SILENT.step("reading") as step:
            collected = collect(self.cluster, requested, self.seen(), self.folder, step)
        verdicts = judge([*nodes.look(self.cluster, self.settings), *collected])
        return Outcome(exit_status(verdicts), tuple(verdicts))

    def restart(self, daemon_set: str, namespace: str) -> None:
        """Delete the pods of a DaemonSet, and wait for new ones."""
        old = self._pods_of(daemon_set, namespace)
        assert old
        for name in old.values():
            self.api.delete(kinds.POD, name, namespace)
        eventually(
            lambda: len(new := self._pods_of(daemon_set, namespace)) == len(old) and not {*new} & {*old},
            f"{daemon_set} did not restart",
        )

    def _pods_of(self, daemon_set: str, namespace: str) -> dict[str, str]:
        return {
            pod["metadata"]["uid"]: pod["metadata"]["name"]
            for pod in self.api.pods(namespace)
            if daemon_set in [owner["name"] for owner in pod["metadata"].get("ownerReferences", ())]
        }

    def _applied(self, manifest: Manifest) -> bool:
        try:
            self.api.apply(_kind(manifest), manifest)
        except ApiError as error:
            if not error.missing:
                raise
            return False
        return True

    def _replace(self, before: Manifest | None, after: Manifest | None) -> None:
        if before is not None and after is None:
            self._delete(before)
        elif after is not None:
            self.api.apply(_kind(after), after)

    def _delete(self, manifest: Manifest) -> None:
        kind, meta = _kind(manifest), manifest["metadata"]
        namespace, name = meta.get("namespace"), meta["name"]
        if self.api.find(kind, name, namespace) is None:
            return
        uid = self.api.get(kind, name, namespace)["metadata"]["uid"]
        self.api.delete(kind, name, namespace)
        self._collect(uid, namespace)
        eventually(
            lambda: (
                self.api.find(kind, name, namespace) is None
                and not (manifest["kind"] in _WORK and self._pods_named(name, namespace))
            ),
            f"{manifest['kind']} {name} is still there",
        )

    def _collect(self, owner: str, namespace: str | None) -> None:
        """Delete what an object owned: the garbage collector takes up to 40 s to hear of a kind that is new."""
        for kind in _OWNED if namespace else ():
            for obj in self.api.list(kind, namespace)["items"]:
                if owner in [owner_reference["uid"] for owner_reference in obj["metadata"].get("ownerReferences", ())]:
                    self.api.delete(kind, obj["metadata"]["name"], namespace)

    def _pods_named(self, job: str, namespace: str) -> list[Manifest]:
        return [pod for pod in self.api.pods(namespace) if pod["metadata"]["name"].startswith(f"{job}-")]


def edited(healthy: Iterable[Manifest], edit: Edit) -> list[Manifest]:
    """Return a stack's manifests with a fault."""
    manifests = copy.deepcopy([*healthy])
    edit(manifests)
    return manifests


def refusals(settings: Settings, manifests: Iterable[Manifest]) -> set[str]:
    """Return the mandatory rules that refuse manifests, taken as complete, without exceptions."""
    subjects = [subject for manifest in manifests for subject in objects(manifest)]
    checker = Checker(configuration=Configuration(configuration(settings)))
    seen = checker.check(subjects, Inventory(subjects, complete=True))
    return {finding.rule for finding in seen if finding.severity is Severity.MANDATORY}


def named(manifests: Iterable[Manifest], name: str) -> Manifest:
    """Return the only manifest of a name."""
    (manifest,) = (candidate for candidate in manifests if candidate["metadata"]["name"] == name)
    return manifest


def _differences(old: Iterable[Manifest], new: Iterable[Manifest]) -> Iterator[tuple[Manifest | None, Manifest | None]]:
    before, after = (
        {_key(manifest): manifest for manifest in manifests if manifest["kind"] not in _WORK}
        for manifests in (old, new)
    )
    for key in {**before, **after}:
        if before.get(key) != after.get(key):
            yield before.get(key), after.get(key)


def _key(manifest: Mapping[str, Any]) -> tuple[str, str, str]:
    return manifest["kind"], manifest["metadata"].get("namespace", ""), manifest["metadata"]["name"]


def _kind(manifest: Mapping[str, Any]) -> Kind:
    api_version, name = manifest["apiVersion"], manifest["kind"]
    group, _, version = api_version.rpartition("/")
    # The few kinds that the platform makes and nothing else names.
    return kinds.find(api_version, name) or Kind(group, version, name, re.sub("y$", "ie", name.lower()) + "s")
