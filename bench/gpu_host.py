"""Starts on a host with GPUs what a pod would start, as processes. Needs Python alone: it can be copied to the host.

    python3 gpu_host.py PLAN.json -o FOLDER [--binary nccl-tests=FOLDER] [--set NAME=VALUE] [--only JOB]

`python bench/gpus.py plan` writes the plan. FOLDER gets for each job JOB.log, and JOB.json: what of the pod
was had here, and what was not.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

OWN = ("NCCL_", "PET_", "TORCH_", "CUDA_VISIBLE_DEVICES", "OMPI_")
"""What variables of the host begin with that a pod would not have."""
KEPT = {"NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1", "NVSHMEM_DISABLE_NVLS": "1"}
"""Variables that are the host's where it has set them so: NVLink multicast is then not for its users."""
_HERE = "127.0.0.1"


def environment(job: dict[str, Any], pod: int, changed: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the variables of a pod's processes, and what of them is another here."""
    notes = []
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
    own = dict(job["environment"])
    for name, value in KEPT.items():
        if os.environ.get(name) == value:
            own[name] = value
            notes.append(f"{name}={value} is the host's")
    if "PET_MASTER_ADDR" in own:
        notes.append(f"PET_MASTER_ADDR: {_HERE}, not {own['PET_MASTER_ADDR']}, which is a Service's")
        own |= {"PET_MASTER_ADDR": _HERE, "PET_NODE_RANK": str(pod)}
    interface = own.get("NCCL_SOCKET_IFNAME")
    if interface and not (Path("/sys/class/net") / interface).exists():
        notes.append(f"NCCL_SOCKET_IFNAME={own.pop('NCCL_SOCKET_IFNAME')}: the host has no such interface")
    first = pod * job["gpus"]
    own["CUDA_VISIBLE_DEVICES"] = ",".join(str(first + gpu) for gpu in range(job["gpus"]))
    if changed:
        notes.append(f"set by --set: {', '.join(f'{name}={value}' for name, value in changed.items())}")
    return {**inherited, **own, **changed}, notes


def cpus(job: dict[str, Any], pod: int) -> tuple[set[int], str]:
    """Return the CPUs of a pod: those of the profile where the host has them, else as many of its own."""
    here = sorted(os.sched_getaffinity(0))
    numa_cpus = set(job["cpu_sets"][pod % len(job["cpu_sets"])]) if job["cpu_sets"] else set()
    if numa_cpus and numa_cpus <= {*here}:
        return numa_cpus, f"CPUs {min(numa_cpus)}-{max(numa_cpus)} of the profile's NUMA node"
    own_cpus = {*here[: job["cpus"]]}
    short = "" if len(own_cpus) == job["cpus"] else f", of the {job['cpus']} of the pod"
    return own_cpus, f"{len(own_cpus)} CPUs{short}: the host has not those of the profile's NUMA nodes"


def shared_memory(job: dict[str, Any]) -> tuple[list[str], str]:
    """Return the words that give processes a /dev/shm of the pod's size, and what is said of it."""
    size = job["shm_mib"]
    mount = f'mount -t tmpfs -o size={size}m tmpfs /dev/shm && exec "$@"'
    words = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--mount", "sh", "-c", mount, "sh"]
    if shutil.which("unshare") and subprocess.run([*words, "true"], check=False, capture_output=True).returncode == 0:
        return words, f"/dev/shm has {size} MiB"  # noqa: S108 - shared memory
    return [], f"/dev/shm is the host's: a mount of {size} MiB is not allowed here"  # noqa: S108


def command(job: dict[str, Any], binaries: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the command line, and what of it is another here; raise SystemExit for one that cannot be started."""
    words = list(job["command"])
    if job["kind"] == "MPIJob":
        raise SystemExit(
            f"{job['name']}: an MPIJob's launcher needs mpirun and sshd of its image; use a workload of kind job"
        )
    program = Path(words[0])
    folder = binaries.get("nccl-tests")
    if program.name.endswith("_perf"):
        if folder is None:
            raise SystemExit(
                f"{job['name']}: {program} is on the tenant's volume; name a build of it: --binary nccl-tests=FOLDER"
            )
        return [str(Path(folder) / program.name), *words[1:]], [f"{program} is {folder}/{program.name}"]
    return words, []


def run(job: dict[str, Any], folder: Path, binaries: dict[str, str], changed: dict[str, str], limit: float) -> int:
    """Start a job's pods, write its files, and return the exit status of the first that failed."""
    words, notes = command(job, binaries)
    mount, mount_note = shared_memory(job)
    notes += [mount_note, *job["absent"]]
    if job["rdma"] and not Path("/dev/infiniband").exists():
        notes.append(f"{', '.join(job['rdma'])}: the host has no RDMA devices")
    log, begun = folder / f"{job['name']}.log", time.time()
    started = []
    with log.open("wb") as output:
        for pod in range(job["pods"]):
            variables, other = environment(job, pod, changed)
            chosen, which = cpus(job, pod)
            notes += [text for text in (*other, which) if text not in notes]
            pinned = ["taskset", "-c", ",".join(map(str, sorted(chosen)))] if shutil.which("taskset") else []
            started.append(
                subprocess.Popen([*mount, *pinned, *words], env=variables, stdout=output, stderr=subprocess.STDOUT)
            )
        ended = []
        for process in started:
            try:
                ended.append(process.wait(max(1.0, begun + limit - time.time())))
            except subprocess.TimeoutExpired:
                process.kill()
                ended.append(124)
                notes.append(f"stopped after {limit:g} s")
    status = next((code for code in ended if code), 0)
    facts = {"job": job["name"], "status": status, "seconds": round(time.time() - begun, 1), "said": notes}
    (folder / f"{job['name']}.json").write_text(json.dumps(facts, indent=2) + "\n")
    sys.stdout.write(f"{job['name']}: exit status {status}, {facts['seconds']} s, {log}\n")
    sys.stdout.writelines(f"  {text}\n" for text in notes)
    return status


def main() -> int:
    """Run the jobs of a plan, one after another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=Path)
    parser.add_argument("-o", dest="folder", type=Path, required=True)
    parser.add_argument("--binary", action="append", default=[], help="nccl-tests=FOLDER of its programs")
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE of a variable, for comparisons")
    parser.add_argument("--only", action="append", help="name of a job; repeatable")
    parser.add_argument("--limit", type=float, default=900, help="seconds of a job")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    binaries, changed = (dict(text.split("=", 1) for text in pairs) for pairs in (arguments.binary, arguments.set))
    jobs = [
        job
        for job in json.loads(arguments.plan.read_text())["jobs"]
        if not arguments.only or job["name"] in arguments.only
    ]
    return max([run(job, arguments.folder, binaries, changed, arguments.limit) for job in jobs], default=0)


if __name__ == "__main__":
    sys.exit(main())
