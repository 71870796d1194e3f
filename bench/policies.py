"""Measures, in one run on the same files: `./hpc check` beside checkov, the rules alone, start-up and memory.

    python -m bench.policies [--templates 10000] [--checkov 2000] [--runs 3] [--no-checkov]

checkov is installed once into an environment of its own in the cache (HPC_CACHE); where that is not possible the
comparison is left out, and the output reports it. Whole processes are measured by the wall clock, the rules alone by
processor time. This process stays small: its memory when it starts another one counts as that one's peak memory. Every
figure is of this run on this machine; none is stored.
"""

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bench.figures import judge, print_machine
from toolkit.cli.shared.console import console
from toolkit.cli.shared.paths import ROOT
from toolkit.engine import tools

CHECKOV = "3.3.30"
GOALS = {  # a figure is to be at least (True) or at most (False) this
    "documents/s of ./hpc check over those of checkov": (10.0, True),
    "rules alone, pod templates/s on one core": (6000.0, True),
    "start-up, s": (0.5, False),
    "memory for 2n over memory for n, without start-up": (2.2, False),
}
_EVERY, _MPI = 20, 10
"""One manifest in so many has a fault, and one in so many is an MPIJob."""


@dataclass(frozen=True)
class Run:
    """One process: wall clock in seconds, peak resident memory in bytes, and what it printed."""

    seconds: float
    memory: int
    output: bytes


def main() -> int:
    """Measure and print; the exit status says whether all goals were reached."""
    arguments = _arguments()
    if arguments.rules_alone:
        print(json.dumps(_rules_alone(arguments.templates, arguments.runs)))  # noqa: T201 - for the process above
        return 0
    with tempfile.TemporaryDirectory(prefix="hpc-bench-") as folder:
        measured = _measure(Path(folder), arguments)
    print_machine()
    reached = [judge(title, value, GOALS[title][0], least=GOALS[title][1]) for title, value in measured.items()]
    return 0 if all(reached) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--templates", type=int, default=10_000, help="pod templates")
    parser.add_argument("--checkov", type=int, default=2_000, help="of them for the comparison with checkov")
    parser.add_argument("--runs", type=int, default=3, help="repetitions of what takes seconds")
    parser.add_argument("--no-checkov", action="store_true", help="leave checkov out")
    parser.add_argument("--rules-alone", action="store_true", help="measure that, in this process")
    return parser.parse_args()


def _measure(folder: Path, arguments: argparse.Namespace) -> dict[str, float]:
    runs: int = arguments.runs
    sizes = {"one": 1, "half": arguments.templates // 2, "whole": arguments.templates}
    files = [_write(folder / f"{name}.yaml", count) for name, count in sizes.items()]
    single, half, whole = ([_check(file) for _ in range(runs)] for file in files)
    start = statistics.median(run.seconds for run in single)
    base, middle, full = (min(run.memory for run in runs_of_size) for runs_of_size in (single, half, whole))
    seconds = statistics.median(run.seconds for run in whole)
    summary = json.loads(whole[0].output)["summary"]
    console.print(
        f"./hpc check: {summary['objects']} documents, {summary['pods']} pod templates, {summary['mandatory']} "
        f"mandatory and {summary['advisory']} advisory findings in {seconds:.2f} s: "
        f"{summary['objects'] / seconds:.0f} documents/s"
    )
    console.print(
        f"start-up {start:.2f} s; peak memory {_mib(base)} alone, {_mib(middle)} and {_mib(full)} for n and 2n"
    )
    measured = {
        "start-up, s": start,
        "memory for 2n over memory for n, without start-up": (full - base) / (middle - base),
        "rules alone, pod templates/s on one core": _rules(arguments),
    }
    if not arguments.no_checkov and (checkov := _checkov()):
        part = _write(folder / "part.yaml", arguments.checkov)
        measured["documents/s of ./hpc check over those of checkov"] = _beside_checkov(part, checkov, runs)
    return measured


def _mib(amount: int) -> str:
    return f"{amount / 2**20:.0f} MiB"


def _beside_checkov(file: Path, checkov: list[str], runs: int) -> float:
    command = [*checkov, "-f", str(file), "--framework", "kubernetes", "--output", "json", "--soft-fail", "--compact"]
    ratios = []
    for _ in range(runs):  # in turn, so that a machine whose speed drifts does so for both
        of_checkov, of_hpc = _run([*command, "--quiet", "--skip-download"]), _check(file)
        documents = json.loads(of_hpc.output)["summary"]["objects"]
        looked = json.loads(of_checkov.output)["summary"]
        if looked["resource_count"] < documents or looked["parsing_errors"]:
            raise SystemExit(f"checkov did not check all {documents} documents: {looked}")
        ratios.append(of_checkov.seconds / of_hpc.seconds)
        console.print(
            f"{documents} documents: checkov {CHECKOV} {of_checkov.seconds:.2f} s"
            f" ({documents / of_checkov.seconds:.0f}/s), "
            f"./hpc check {of_hpc.seconds:.2f} s ({documents / of_hpc.seconds:.0f}/s)"
        )
    return statistics.median(ratios)


def _rules(arguments: argparse.Namespace) -> float:
    counts = ["--templates", str(arguments.templates), "--runs", str(arguments.runs)]
    measured = json.loads(_run([sys.executable, "-m", "bench.policies", "--rules-alone", *counts]).output)
    speed = float(measured["speed"])
    console.print(f"{measured['rules']} rules alone: {measured['findings']} findings, {1e6 / speed:.0f} us a template")
    return speed


def _rules_alone(templates: int, runs: int) -> dict[str, float]:
    from policies.check import Checker  # noqa: PLC0415 - see above: the process that starts others stays small
    from policies.manifests.inventory import Inventory  # noqa: PLC0415
    from policies.manifests.objects import Obj  # noqa: PLC0415
    from policies.rules import RULES  # noqa: PLC0415

    manifests = list(_manifests(templates))
    gc.disable()
    seconds = []
    for _ in range(runs):
        subjects = [Obj(manifest) for manifest in manifests]
        begin = time.process_time()
        findings = sum(1 for _ in Checker().check(subjects, Inventory(subjects)))
        seconds.append(time.process_time() - begin)
    return {"rules": len(RULES), "findings": findings, "speed": templates / statistics.median(seconds)}


def _check(file: Path) -> Run:
    return _run([str(ROOT / "hpc"), "check", "-f", str(file), "--format", "json"])


def _run(command: list[str]) -> Run:
    with tempfile.TemporaryFile() as output:
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
        output.seek(0)
        return Run(seconds, usage.ru_maxrss * 1024, output.read())


def _checkov() -> list[str] | None:
    folder = tools.cache_folder() / f"checkov-{CHECKOV}"
    python = folder / "bin" / "python"
    if not (folder / ".installed").exists():
        console.print(f"installing checkov {CHECKOV} into {folder} ...")
        try:
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", f"checkov=={CHECKOV}"], check=True)
        except subprocess.CalledProcessError as error:
            console.print(f"checkov is left out: {error}")
            return None
        (folder / ".installed").touch()
    return [str(python), "-m", "checkov.main"]


def _write(path: Path, templates: int) -> Path:
    with path.open("w") as file:
        yaml.dump_all(_manifests(templates), file, Dumper=yaml.CSafeDumper, sort_keys=False)
    return path


def _manifests(templates: int) -> Iterator[dict[str, Any]]:
    """Yield one-container jobs and some MPIJobs, with so many pod templates in all."""
    number = 0
    while templates > 0:
        mpi = number % _MPI == _MPI - 1 and templates > 1
        yield _mpi_job(number) if mpi else _job(number)
        templates -= 2 if mpi else 1
        number += 1


def _pod(number: int, name: str, resources: dict[str, Any], **fields: Any) -> dict[str, Any]:
    container = {
        "name": name,
        "image": f"nvcr.io/nvidia/tensorflow:20.12-tf{number % 2 + 1}-py3",
        "env": [{"name": "NCCL_DEBUG", "value": "INFO"}, {"name": "SEED", "value": str(number)}],
        "resources": {"limits": {"cpu": 4, "memory": "16Gi", **resources}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "runAsNonRoot": True,
            "capabilities": {"drop": ["ALL"], **({"add": ["IPC_LOCK"]} if "rdma/shared_ib0" in resources else {})},
        },
        "volumeMounts": [{"name": "data", "mountPath": "/workspace"}],
        **fields,
    }
    return {
        "restartPolicy": "Never",
        "serviceAccountName": "mpi",
        "containers": [container],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    }


def _metadata(name: str, number: int) -> dict[str, Any]:
    return {"name": f"{name}-{number}", "namespace": "adas", "labels": {"app": name, "run": str(number)}}


def _job(number: int) -> dict[str, Any]:
    gpus = 99 if number % _EVERY == 1 else 1
    pod = _pod(number, "train", {"nvidia.com/gpu": gpus}, command=["python", "train.py", "--epochs", "10"])
    template = {"metadata": {"labels": {"app": "train"}}, "spec": pod}
    spec = {"backoffLimit": 1, "activeDeadlineSeconds": 3600, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": _metadata("train", number), "spec": spec}


def _mpi_job(number: int) -> dict[str, Any]:
    rdma = 2 if number % _EVERY == _MPI - 1 else 1
    command = ["mpirun", "-np", "16", "-x", "NCCL_DEBUG", "python", "train.py"]
    launcher = {"replicas": 1, "template": {"spec": _pod(number, "launcher", {}, command=command)}}
    worker = _pod(number, "worker", {"nvidia.com/gpu": 8, "rdma/shared_ib0": rdma})
    return {
        "apiVersion": "kubeflow.org/v1alpha2",
        "kind": "MPIJob",
        "metadata": _metadata("nccl", number),
        "spec": {
            "slotsPerWorker": 8,
            "cleanPodPolicy": "Running",
            "mpiReplicaSpecs": {"Launcher": launcher, "Worker": {"replicas": 2, "template": {"spec": worker}}},
        },
    }


if __name__ == "__main__":
    sys.exit(main())
