"""A cluster with rounds of a suite, whose only job measures NCCL."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.apis import suite
from core.apis.kinds import Kind
from tests.toolkit.evidence.criteria.cases import TABLE, nccl, slower
from toolkit.cli.shared.cluster_client import Cluster

JOB = "nccl-test-04x08"
FIRST, SECOND, THIRD = "2611070200", "2611140200", "2611210200"
STEADY = (1.0, 1.01, 0.99, 1.0, 1.002)


class Rounds(Cluster):
    """A cluster with runs of one job: by their name the factor of their times, and None for one that failed."""

    def __init__(self, runs: Mapping[str, float | None], *, active: bool = False, release: str = "4.21") -> None:
        super().__init__(Path(), "lab")
        self.__dict__.update(runs=runs, active=active, release=release, read_logs=[])

    runs: Mapping[str, float | None]
    active: bool
    release: str
    read_logs: list[str]

    def list(self, kind: Kind, namespace: str = "", **query: str) -> list[dict[str, Any]]:
        """Return the MPIJobs of the suite, and their launchers."""
        if kind.kind == "MPIJob":
            assert (namespace, query) == ("training", {"labelSelector": "hpc.pulumi/suite=suite"})
            return [self._job(name, factor) for name, factor in self.runs.items()]
        return [_launcher(name) for name in self.runs] if kind.kind == "Pod" else []

    def _job(self, name: str, factor: float | None) -> dict[str, Any]:
        labels = {suite.JOB: JOB, suite.RUN: name.removeprefix(f"{JOB}-")}
        meta = {"name": name, "namespace": "training", "labels": labels}
        meta["annotations"] = {suite.VERSIONS: json.dumps({"OpenShift": self.release})}
        state = "Failed" if factor is None else "Succeeded"
        return {"metadata": meta, "status": {"conditions": [{"type": state, "status": "True"}]}}

    def read(self, kind: Kind, namespace: str, name: str) -> dict[str, Any] | None:
        """Return the CronJob."""
        assert (kind.api_version, namespace, name) == ("batch/v1", "training", "suite")
        return {"status": {"active": [{"name": "suite-1"}] if self.active else []}}

    def download(self, path: str, file: Path, **_: str) -> bool:
        """Write the log of a launcher."""
        name = path.split("/")[-2].removesuffix("-launcher")
        self.read_logs.append(name)
        file.write_text(nccl() + slower(TABLE, self.runs[name] or 1.0))
        return True


def _launcher(name: str) -> dict[str, Any]:
    labels = {"training.kubeflow.org/job-name": name, "training.kubeflow.org/job-role": "launcher"}
    meta = {"name": f"{name}-launcher", "namespace": "training", "labels": labels}
    return {"metadata": meta, "spec": {"containers": [{"name": "main", "image": "nccl:1"}]}}


def runs(round_: str, factors: Sequence[float | None] = STEADY, by: float = 1.0) -> dict[str, float | None]:
    """Return the runs of a round."""
    numbered = enumerate(factors, 1)
    return {f"{JOB}-{round_}-{number}": factor and factor * by for number, factor in numbered}
