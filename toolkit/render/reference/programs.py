"""docs/reference/programs.md: every program that a workload can name."""

from pathlib import Path

from components.jobs.job_volumes import DATA, MountOptions
from stacks.programs import PROGRAMS, Program
from stacks.resolved.images import IMAGES
from toolkit.render.reference import markdown, tables

FILE = tables.ROOT / "docs" / "reference" / "programs.md"


def pages() -> dict[Path, str]:
    """Return the text of the page, by its file."""
    return {FILE: _page()}


def _page() -> str:
    programs = markdown.table(
        ("program", "kinds", "what it starts", "processes", "data", "needs", "images", "prints", "source"),
        [_row(name, program) for name, program in PROGRAMS.items()],
    )
    known = markdown.table(
        ("image", "CUDA", "NCCL", "sshd for v2beta1", "arm64", "source"),
        [
            (
                f"`{image.reference}`",
                str(image.cuda),
                ".".join(map(str, image.nccl)) if image.nccl else "",
                "yes" if image.sshd else "no",
                "no" if image.amd64_alone else "not checked",
                image.source,
            )
            for image in IMAGES.values()
        ],
    )
    return f"""# Programs

A workload names one of these programs in `program`, or one that the stack's settings define under `programs` with the
same fields ([settings](settings.md)). Each is a file in [stacks/programs](../../stacks/programs), from which
`make docs` writes this page. `{{gpus}}` means the GPUs of a pod. An update waits until training jobs have started, and
until all other jobs have finished; training is not repeated automatically. Errors in the source documents (E-...) are
corrected. Without an `image` in the settings, the first listed image that the GPUs and the release support is
used. Where none is listed, the documents name no image with a stable tag, and the settings must name one. Verification
reports missing evidence where a log lacks what its program prints.

{programs}

## Your own

```yaml
programs:
  train:
    command: [python, train.py, --data, /data]
    kinds: [mpi]
    images: [registry.example.com/team/train:1.2]
    mounts: {{/data: ""}}
    prints: [nccl]
    metrics:
      - name: throughput
        pattern: 'throughput: ([\\d.,]+) images/s'
        unit: images/s
        value: median
        warm_up: 10
        at_least: 4000
        efficiency: 0.9
stages:
  - name: train
    workloads:
      - {{kind: mpi, tenant: adas, name: train, program: train, layout: {{pods: 2, gpus: 8}}}}
```

A mount is a folder of the tenant's volume `data`, or names one of its `volumes`:

```yaml
tenants:
  - namespace: adas
    volumes:
      - {{name: data, kind: directory, volume: adas-pv, claim: adas-data, path: /mnt/ess3000/adas, capacity: 100Ti}}
      - {{name: sets, kind: claim, claim: sets, storage_class: nfs, capacity: 10Ti, read_only: true}}
      - {{name: scratch, kind: scratch, storage_class: lvms-nvme, capacity: 500Gi}}
      - {{name: cache, kind: local, claim: cache, storage_class: lvms-nvme, capacity: 2Ti}}
programs:
  train:
    mounts:
      /workspace: ""
      /data: {{volume: sets, folder: imagenet}}
      /scratch: {{volume: scratch}}
```

| kind | what a job gets |
|---|---|
| `directory` | a directory of Spectrum Scale, which outlives everything |
| `claim` | a claim of any storage class, created with the tenant |
| `scratch` | an empty volume for each pod, deleted with it; with a class of local disks, NVMe of the pod's node |
| `local` | a folder on one node's NVMe that remains when jobs end; only for jobs on one node |

A tenant's `data`, with a single volume, is the older form of `volumes: [{{name: data, ...}}]` and means the same.

With `kinds: [torch]` and a workload of `kind: torch`, `command` is what torchrun starts: the script and its arguments.
Every pod of the job, an Indexed Job with a headless Service, has the variables of Kubeflow Trainer (`PET_NNODES`,
`PET_NPROC_PER_NODE`, `PET_NODE_RANK`, `PET_MASTER_ADDR`, `PET_MASTER_PORT`), and, like MPI workers, NCCL's settings for
the fabric, RDMA devices and IPC_LOCK. On a platform with `trainer` the job is a TrainJob of the ClusterTrainingRuntime
`hpc-torch` instead, with the same pods; `trainer: none` keeps the Indexed Job. A TrainJob's name has at most 48
characters, on fewer than 11 pods, and its pods have no priority class. The example `pytorch` has a program of each
kind.

A program also declares what its jobs need besides GPUs:

```yaml
programs:
  train:
    command: [python, train.py, --resume, "{{checkpoint}}"]
    mounts: {{/data: ""}}
    checkpoint: /data/checkpoints
    restarts: 3
    ports: {{metrics: 9100}}
    resources: {{cpus: 48, memory_gib: 900}}
```

- `checkpoint`: `{{checkpoint}}` in `command` and `environment` stands for a folder below this path with the job's name,
  the same for every run of the job. Scratch and read-only volumes are refused.
- `restarts`: after a failure an MPIJob or a Job gets up to this many new launchers or pods. torchrun restarts all
  processes in the same pods, by `PET_MAX_RESTARTS`. A verification (`trains: false`) has no restarts: a retry hides
  what it found.
- `ports`: named ports of every pod that runs the program. A TrainJob has no field for them.
- `resources`: CPUs and GiB of a pod, instead of its GPUs' share of the machine. Fewer such pods may fit on a node,
  which is checked. `further` has other resources, e.g. `ephemeral-storage`, on a platform without queues.

Images from your own registry are refused until the settings add it to the known ones
([policies](policies/README.md#configuration)):

```yaml
policies:
  image-registry: {{more: [registry.example.com]}}
```

`./hpc verify` judges the metrics of every job, and, where `efficiency` is given, compares a job on more GPUs with the
one on the fewest. On a simulated cluster, where the program does not run, metrics are a warning and never a pass.
`./hpc programs check FILE --log LOG` shows what a program's file finds in a log, and
`./hpc verify -f LOG --program FILE --profile MACHINE --layout 02x08` judges the log. Such a file has the fields of one
program, without its name: in the example, from `command:` on.

## Images

Known images ([stacks/resolved/images.py](../../stacks/resolved/images.py)); others are used unchecked.

{known}
"""


def _command(program: Program) -> str:
    words = " ".join(program.command).replace("{largest}", str(program.largest_mib))
    return words.replace("{program}", program.on_volume or "")


def _row(name: str, program: Program) -> tuple[str, ...]:
    return (
        f"`{name}`{' (trains)' if program.trains else ''}",
        ", ".join(f"`{kind}`" for kind in program.kinds),
        f"`{_command(program)}`" if program.command else "what the image starts",
        f"one per {program.processes_per}".replace("gpu", "GPU"),
        _data(program),
        "; ".join(_needs(program)),
        ", ".join(f"`{image}`" for image in program.images),
        ", ".join(f"`{tool}`" for tool in program.prints),
        program.source or "",
    )


def _data(program: Program) -> str:
    mounts = ", ".join(f"`{place}`{_mounted(mount)}" for place, mount in program.mounts.items())
    return " at ".join(part for part in (_name(program), mounts) if part)


def _mounted(mount: MountOptions) -> str:
    volume = [f"volume {mount.volume}"] if mount.volume != DATA else []
    parts = [
        *volume,
        *([f"folder {mount.folder}"] if mount.folder else []),
        *(["read-only"] if mount.read_only else []),
    ]
    return f" ({', '.join(parts)})" if parts else ""


def _name(program: Program) -> str:
    return f"{program.data.name}, {program.data.size_gb} GB," if program.data else ""


def _needs(program: Program) -> list[str]:
    return [
        *([f"GPUs: {program.gpus}"] if program.gpus else []),
        *([f"GB per GPU: {program.gpu_memory_gb}"] if program.gpu_memory_gb else []),
    ]
