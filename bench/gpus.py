"""Runs what the pods of a stack's jobs would run on a host with NVIDIA GPUs, without a cluster, and judges the logs.

    python -m bench.gpus [--stack STACK] [--gpus 2] [--machine MACHINE] [-o out/gpus] [plan|judge]

Without `--stack` it takes this project's own programs: the test of a node, collectives, and two trainings. Where the
project cannot be installed on the host, `plan` writes PLAN.json here, bench/gpu_host.py runs it there with Python
alone, and `judge` reads the logs here. What of a pod a host does not have is said in the file beside each log.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from bench import projects
from core.hardware.profiles import PROFILES, Profile
from stacks.loading import locks
from stacks.loading import settings as stack_settings
from stacks.settings.platform import Settings
from toolkit.cli.shared.console import console
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.verify.expectations import requests
from toolkit.cli.verify.verdict_tables import conclude
from toolkit.evidence import metrics
from toolkit.evidence.verdict import Ended, Job
from toolkit.render.manifests import manifests

DEFAULTS: Mapping[str, str] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
PROGRAMS = ("torch-collectives", "torch-resnet50", "torch-transformer")
IMAGE = "nvcr.io/nvidia/pytorch:25.02-py3"
"""Stands for that of a site: here the host's own PyTorch runs."""
_UNITS = {"Mi": 1, "Gi": 1024, "Ti": 1024 * 1024}
ABSENT = (
    "limit of memory, user, seccomp and SELinux: not had on a bare host",
    "image: the host's own Python and PyTorch",
)


def own_settings(profile: str, gpus: int) -> Settings:
    """Return a stack with this project's programs on one pod of so many GPUs."""
    content: dict[str, Any] = yaml.safe_load((ROOT / DEFAULTS["example"]).read_text())["config"]["hpc:platform"]
    nodes = [{**node, "machine": profile} if "machine" in node else node for node in content["nodes"]]
    common = {"tenant": content["tenants"][0]["namespace"], "image": IMAGE}
    test = {"kind": "job", "name": "preflight", "program": "preflight", "gpus": gpus, **common}
    layout = {"pods": 1, "gpus": gpus}
    jobs = [{"kind": "torch", "name": name, "program": name, "layout": layout, **common} for name in PROGRAMS]
    stages = [{"name": "gpus", "workloads": [test, *jobs]}]
    # A suite names jobs, and switches name nodes, of the stack's own.
    own = {key: value for key, value in content.items() if key not in ("suite", "site")}
    return projects.read({**own, "nodes": nodes, "stages": stages})


def jobs(settings: Settings) -> Iterator[dict[str, Any]]:
    """Yield what each job's pods start, by the objects that the program declares."""
    namespaces = {tenant.namespace for tenant in settings.tenants}
    for manifest in manifests(projects.recorded(settings)):
        metadata = manifest["metadata"]
        if metadata.get("namespace") not in namespaces:
            continue
        if manifest["kind"] == "Job":
            yield _job(manifest, settings.gpu_pools[0].machine)
        elif manifest["kind"] == "MPIJob":
            yield {"name": metadata["name"], "kind": "MPIJob", "command": ["mpirun"]}


def _job(manifest: Mapping[str, Any], machine: Profile) -> dict[str, Any]:
    spec = manifest["spec"]
    pod = spec["template"]["spec"]
    container = pod["containers"][0]
    limits = container["resources"]["limits"]
    shared = next((volume["emptyDir"]["sizeLimit"] for volume in pod["volumes"] if "emptyDir" in volume), "64Mi")
    gpus = int(limits.get("nvidia.com/gpu", 0))
    return {
        "name": manifest["metadata"]["name"],
        "kind": manifest["kind"],
        "command": container.get("command", []),
        "environment": {
            variable["name"]: variable["value"] for variable in container.get("env", []) if "value" in variable
        },
        "pods": spec.get("completions", 1),
        "gpus": gpus,
        "cpus": int(limits["cpu"]),
        "cpu_sets": [sorted(node.cpu_set) for node in machine.numa if gpus <= len(node.gpus)],
        "shm_mib": int(shared[:-2]) * _UNITS[shared[-2:]],
        "rdma": [name for name in limits if name.startswith("rdma/")],
        "absent": list(ABSENT),
    }


def judged(settings: Settings, folder: Path) -> int:
    """Judge the logs of a folder by what the stack requests of its jobs; return the exit status of `./hpc verify`."""
    ended_jobs = []
    for request in requests(settings, locks.read(settings, ROOT)):
        log = folder / f"{request.job.partition('/')[2]}.log"
        if not log.is_file():
            continue
        facts = json.loads(log.with_suffix(".json").read_text())
        ended = Ended.FAILED if facts["status"] else Ended.SUCCEEDED
        readings = metrics.read_log(log, request.metrics)
        ended_jobs.append(Job(request=request, ended=ended, seconds=facts["seconds"], readings=readings))
    if not ended_jobs:
        raise SystemExit(f"{folder} holds no log of these jobs; run bench/gpu_host.py first")
    return conclude(ended_jobs, plain=False)


def main() -> int:
    """Plan, run and judge, or one of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("plan", "judge"), help="only that")
    parser.add_argument("--stack", help="its jobs, of Pulumi.<stack>.yaml")
    parser.add_argument("--gpus", type=int, default=2, help="of a pod, without --stack")
    parser.add_argument(
        "--machine", default=DEFAULTS["profile"], choices=sorted(PROFILES), help="machine, without --stack"
    )
    parser.add_argument("--binary", action="append", default=[], help="nccl-tests=FOLDER of its programs")
    parser.add_argument("-o", dest="folder", type=Path, default=ROOT / "out" / "gpus")
    arguments = parser.parse_args()
    if arguments.stack:
        loaded = stack_settings.load(arguments.stack, ROOT)
        if not isinstance(loaded, Settings):
            raise SystemExit(f"stack {arguments.stack} has no jobs of its own; name one that has them")
        settings = loaded
    else:
        settings = own_settings(arguments.machine, arguments.gpus)
    if arguments.what == "judge":
        return judged(settings, arguments.folder)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    plan = arguments.folder / "PLAN.json"
    plan.write_text(json.dumps({"jobs": list(jobs(settings))}, indent=2) + "\n")
    if arguments.what == "plan":
        console.print(f"{plan}; run it on the host: python3 gpu_host.py {plan.name} -o logs")
        return 0
    words = [word for binary in arguments.binary for word in ("--binary", binary)]
    subprocess.run([sys.executable, ROOT / "bench/gpu_host.py", plan, "-o", arguments.folder, *words], check=False)
    return judged(settings, arguments.folder)


if __name__ == "__main__":
    sys.exit(main())
