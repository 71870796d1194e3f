"""Slurm: its configuration, that of Enroot and Pyxis, and the stack's workloads as batch files."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from core.hardware.fabric import unit_of
from core.hardware.hostlist import expanded, folded
from core.hardware.profiles import Profile
from core.hardware.profiles.records import MEMORY_REPORTED
from stacks.settings.site.scheduler import SlurmPartition, SlurmSettings
from stacks.site.site import BatchJob, PodJob, Site
from toolkit.site.output import File, Group, Open

# As DeepOps' role for Slurm has it (NVIDIA/deepops): cores and memory are consumed, and limits of locked memory
# are the node's own.
_FIXED = """\
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
ProctrackType=proctrack/cgroup
TaskPlugin=task/affinity,task/cgroup
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory,CR_CORE_DEFAULT_DIST_BLOCK,CR_ONE_TASK_PER_CORE
PropagateResourceLimitsExcept=MEMLOCK
PrologFlags=Alloc,Serial,Contain
ReturnToService=2
GresTypes=gpu"""
_CGROUP = "ConstrainCores=yes\nConstrainDevices=yes\nConstrainRAMSpace=yes\n"
_PORT = 29400
"""torchrun's own default (torch.distributed.run)."""
_KUBERNETES_UNITS: Mapping[str, str] = {"Gi": "G", "Mi": "M"}


def node_files(site: Site, settings: SlurmSettings) -> Iterator[File | Open]:
    """Yield the files that slurmctld and slurmd read."""
    hosts = [host.short for host in site.gpu_hosts]
    machine = next(host.machine for host in site.gpu_hosts if host.machine)
    kind = gpu_type(machine)
    tree = machine.reference_design == "superpod"
    lines = [
        f"ClusterName={site.stack}",
        f"SlurmctldHost={settings.controller}",
        _FIXED,
        *(["TopologyPlugin=topology/tree"] if tree else []),
        f"NodeName={folded(hosts)} Sockets={machine.sockets} CoresPerSocket={machine.cpu_cores // machine.sockets} "
        f"ThreadsPerCore={machine.threads_per_core} RealMemory={int(machine.memory_gib * 1024 * MEMORY_REPORTED)} "
        f"Gres=gpu:{kind}:{machine.gpus} State=UNKNOWN",
        *(_partition(partition, hosts, first=partition is settings.partitions[0]) for partition in settings.partitions),
    ]
    yield File("slurm/slurm.conf", "\n".join(lines) + "\n", sources=("D-5.1",))
    yield File("slurm/gres.conf", _gres(machine, kind), sources=("D-2.6", "D-5.1"))
    yield File("slurm/cgroup.conf", _CGROUP, sources=("D-5.1", "D-5.3"))
    if tree:
        yield File("slurm/topology.conf", _topology(hosts), sources=("D-3.5", "D-3.6"))


def gpu_type(machine: Profile) -> str:
    """Return the type of a machine's GPUs, part of the name by which NVML knows them."""
    match = re.search(r"\b([ABHV]\d+)", machine.gpu_model)
    return match[1].lower() if match else "gpu"


def _partition(partition: SlurmPartition, hosts: Sequence[str], *, first: bool) -> str:
    own = [name for expression in partition.hosts for name in expanded(expression)] or hosts
    return (
        f"PartitionName={partition.name} Nodes={folded(own)} Default={'YES' if first else 'NO'} "
        f"MaxNodes={partition.max_nodes or 'UNLIMITED'} MaxTime={partition.max_minutes or 'INFINITE'} State=UP"
    )


def _gres(machine: Profile, kind: str) -> str:
    """Return the GPUs with the cores beside them: their physical indexes, without the second threads of cores."""
    if not machine.numa:
        return "AutoDetect=nvml\n"
    return "".join(
        f"Name=gpu Type={kind} File=/dev/nvidia[{','.join(map(str, node.gpus))}] "
        f"Cores={_span(sorted(cpu for cpu in node.cpu_set if cpu < machine.cpu_cores))}\n"
        for node in sorted(machine.numa, key=lambda node: node.gpus)
        if node.gpus
    )


def _span(cores: Sequence[int]) -> str:
    whole = list(cores) == list(range(cores[0], cores[-1] + 1))
    return f"{cores[0]}-{cores[-1]}" if whole else ",".join(map(str, cores))


def _topology(hosts: Sequence[str]) -> str:
    """Return one switch for each scalable unit: its eight leaves are planes of it, which Slurm's tree cannot say."""
    units: dict[tuple[int, int], list[str]] = {}
    for index, host in enumerate(hosts):
        units.setdefault(unit_of(index), []).append(host)
    lines = [f"SwitchName=pod{pod}unit{unit} Nodes={folded(own)}" for (pod, unit), own in units.items()]
    names = [f"pod{pod}unit{unit}" for pod, unit in units]
    if len(names) > 1:
        lines.append(f"SwitchName=top Switches={','.join(names)}")
    return "\n".join(lines) + "\n"


def batch_files(site: Site, settings: SlurmSettings) -> Iterator[File | Open]:
    """Yield a file for each workload that has all it needs outside of the cluster, and what others lack."""
    kind = next(gpu_type(host.machine) for host in site.gpu_hosts if host.machine)
    for job in site.jobs:
        if isinstance(job, PodJob):
            yield Open(f"{job.name} has no batch file: {job.why}", job.remedy)
        elif missing := list(_missing(job, settings)):
            yield from missing
        else:
            yield File(
                f"slurm/jobs/{job.tenant}/{job.name}.sbatch",
                _text(job, settings, kind),
                sources=("D-5.5", "D-5.6"),
                executable=True,
            )


def _missing(job: BatchJob, settings: SlurmSettings) -> Iterator[Open]:
    if job.data_set is not None:
        yield Open(
            f"{job.name}: proof of its data set {job.data_set}", "none: pods alone have it; run it on the cluster"
        )
    if job.build is not None and job.build not in settings.images:
        yield Open(f"{job.name}: image of build {job.build}", "push it, and name it in `site.scheduler.images`")
    elif job.build is None and job.image is None:
        yield Open(f"{job.name}: its image", "give the workload an image")
    for volume in dict.fromkeys(mount.volume for mount in job.mounts if mount.volume not in settings.volumes):
        yield Open(f"{job.name}: folder of volume {volume} on the nodes", "name it in `site.scheduler.volumes`")


def pyxis_image(image: str) -> str:
    """Return an image as Enroot has it, where # ends the registry: nvcr.io#nvidia/tensorflow:24.03."""
    registry, slash, rest = image.partition("/")
    has_registry = slash and ("." in registry or ":" in registry)
    return f"{registry}#{rest}" if has_registry else image


def _text(job: BatchJob, settings: SlurmSettings, kind: str) -> str:
    image = settings.images[job.build] if job.build else job.image or ""
    # Since 22.05 srun does not take this over from sbatch.
    cpus = f"--cpus-per-task={max(1, job.cpus // job.tasks)}"
    options = [
        f"--job-name={job.name}",
        f"--nodes={job.nodes}",
        f"--ntasks-per-node={job.tasks}",
        cpus,
        f"--mem={_memory(job.memory)}",
        f"--gpus-per-node={kind}:{job.gpus}",
        *(["--switches=1"] if job.together and job.nodes > 1 else []),
    ]
    exports = [f"export {key}={_quoted(value)}" for key, value in sorted(job.environment.items())]
    mounts = [
        f"{_source(settings.volumes[mount.volume], mount.folder)}:{mount.at}{':ro' if mount.read_only else ''}"
        for mount in job.mounts
    ]
    words = [
        "srun",
        cpus,
        *(["--mpi=pmix"] if job.starter == "mpi" else []),
        f"--container-image={shlex.quote(pyxis_image(image))}",
        *([f"--container-mounts={shlex.quote(','.join(mounts))}"] if mounts else []),
        *([f"--container-workdir={shlex.quote(job.working_directory)}"] if job.working_directory else []),
        "--no-container-mount-home",
    ]
    command = shlex.join(job.command)
    if job.starter == "torch":
        exports += [
            f"export PET_NNODES={job.nodes} PET_NPROC_PER_NODE={job.gpus} PET_MASTER_PORT={_PORT}",
            'PET_MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
            "export PET_MASTER_ADDR",
            "# Each node expands its own number.",
            "# shellcheck disable=SC2016",
        ]
        command = f"sh -c {shlex.quote(f'PET_NODE_RANK=$SLURM_NODEID exec torchrun {command}')}"
    lines = ["#!/bin/bash", *(f"#SBATCH {option}" for option in options), "set -euo pipefail", *exports]
    return "\n".join([*lines, " \\\n  ".join([*words, command])]) + "\n"


def _quoted(value: str) -> str:
    """Return a value for the shell; one that begins with = would look like a comparison."""
    return f"'{value}'" if value.startswith("=") and shlex.quote(value) == value else shlex.quote(value)


def _source(folder: str, below: str) -> str:
    return f"{folder.rstrip('/')}/{below}".rstrip("/")


def _memory(quantity: str) -> str:
    match = re.fullmatch(r"(\d+)(Gi|Mi)", quantity)
    if match is None:
        raise ValueError(f"{quantity}: memory of a job is whole Gi or Mi")
    return f"{match[1]}{_KUBERNETES_UNITS[match[2]]}"


def _render(site: Site) -> Iterator[File | Open]:
    scheduler = site.settings.scheduler
    if scheduler is None:
        return
    yield from node_files(site, scheduler)
    yield from _containers(scheduler)
    yield from _images(site, scheduler)
    yield from batch_files(site, scheduler)


def _images(site: Site, settings: SlurmSettings) -> Iterator[File]:
    """Yield scripts around the images of the jobs: to unpack them by Enroot alone, and to see that containers start."""
    jobs = (job for job in site.jobs if isinstance(job, BatchJob))
    images = sorted({image for job in jobs if (image := settings.images.get(job.build or "", job.image))})
    if not images:
        return
    lines = []
    for image in images:
        file, name = (re.sub(r"[^\w.-]+", "+", pyxis_image(image).rpartition("#")[2]) + end for end in (".sqsh", ""))
        lines += [
            f"test -e {file} || enroot import --output {file} docker://{shlex.quote(pyxis_image(image))}",
            f"enroot list | grep -qxF {name} || enroot create --name {name} {file}",
            f"enroot start {name} nvidia-smi -L",
            f'if [ "${{1-}}" = bundle ]; then enroot bundle --output {name}.run {file}; fi',
        ]
    head = "#!/bin/bash\n# {what}\nset -euo pipefail\n"
    what = "Unpacks the images of the jobs on this node, without Slurm; with `bundle` as programs that need no Enroot."
    yield File(
        "slurm/enroot-images.sh", head.format(what=what) + "\n".join(lines) + "\n", sources=("D-5.4",), executable=True
    )
    yield File(
        "slurm/containers.sbatch", _CONTAINERS.format(pyxis_image(images[0])), sources=("D-5.5",), executable=True
    )


_CONTAINERS = """\
#!/bin/bash
#SBATCH --job-name=containers
#SBATCH --nodes=1
# Shows that srun starts a container: its system is another than the node's, and the node's own file hides it again.
# The argument is an image of another distribution than the nodes'.
set -euo pipefail
image=${{1:-{}}}
name() {{
  srun "$@" grep PRETTY_NAME /etc/os-release
}}
host=$(name)
container=$(name --container-image="$image")
mounted=$(name --container-image="$image" --container-mounts=/etc/os-release:/etc/os-release)
echo "node: $host, container: $container, with the node's file: $mounted"
if [ "$container" = "$host" ]; then
  echo "the container has the node's system: Pyxis did not start it, or $image is of the same distribution" >&2
  exit 1
fi
if [ "$mounted" != "$host" ]; then
  echo "--container-mounts had no effect" >&2
  exit 1
fi
"""


def _containers(scheduler: SlurmSettings) -> Iterator[File | Open]:
    """Yield where images are unpacked (Enroot), and the plugin by which srun starts containers (Pyxis)."""
    yield File("slurm/plugstack.conf", "include /etc/slurm/plugstack.conf.d/*\n", sources=("D-5.1", "D-5.5"))
    yield File("slurm/pyxis.conf", f"required {scheduler.pyxis} runtime_path=/run/pyxis\n", sources=("D-5.1", "D-5.5"))
    if scheduler.local_path is None:
        yield Open("folder for unpacked images in slurm/enroot.conf", "name it as `site.scheduler.local_path`")
        return
    # Keys: NVIDIA/enroot doc/configuration.md. Each user has folders of their own: images are unpacked without root.
    own = "$(id -u)"
    lines = (
        f"ENROOT_RUNTIME_PATH /run/enroot/user-{own}",
        f"ENROOT_CACHE_PATH {scheduler.local_path}/enroot-cache/user-{own}",
        f"ENROOT_DATA_PATH {scheduler.local_path}/enroot-data/user-{own}",
    )
    yield File("slurm/enroot.conf", "\n".join(lines) + "\n", sources=("D-5.1", "D-5.4"))


GROUP = Group("slurm", "Slurm, Enroot, Pyxis, and workloads as batch files", _render)
