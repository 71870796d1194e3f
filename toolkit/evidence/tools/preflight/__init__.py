"""The program preflight (stacks/scripts/preflight.py): whether a node is fit for jobs."""

import re
from collections.abc import Callable, Iterator

from core.hardware.measured import MEASURED_GPUS, MeasuredGpu
from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of, row_proofs
from toolkit.evidence.tools.preflight.parser import NOT_REPORTED, Preflight, PreflightParser, Tested
from toolkit.evidence.verdict import Job, Request, Status
from toolkit.evidence.wording import listed

__all__ = ["CRITERIA", "PreflightParser"]

_LEAST_SHM_MIB = 1024
_FOREIGN_MIB = 512
"""MiB in use on a GPU, above which a process of another job is there."""
_SLOWED = 0x8 | 0x20 | 0x40 | 0x80
"""Reasons of lower clocks that are faults: slow-down by hardware, temperature, power brake. Not the power cap."""
_REASONS = re.compile(r"0x[0-9a-fA-F]{1,16}")
_SOURCE = "R-4.4-1, R-4.4-2; measured, core/hardware/measured/gpus.yaml"

Fault = tuple[Tested, str]
_Faults = Callable[[Request, Preflight], Iterator[Fault]]


def _judged(faults: _Faults, healthy: str, *needs: str) -> Callable[[Job], Outcome | None]:
    """Return a check that names every node with its faults; `needs` are kinds of lines that each GPU must have."""

    def judge(job: Job) -> Outcome | None:
        runs = readings_of(job, Preflight)
        faulty = [(run, row, why) for run in runs for row, why in faults(job.request, run)]
        absent = [run for run in runs if any(len(run.of_kind(what)) < max(run.gpus, 1) for what in needs)]
        if not faulty and absent:
            what = f"not every GPU has its lines {', '.join(needs)}"
            return Outcome(
                Status.MISSING, f"{listed(run.node for run in absent)}: {what}", proofs=opening_proofs(absent)
            )
        if not faulty:
            return Outcome(Status.PASS, f"{listed(run.node for run in runs)}: {healthy}", proofs=opening_proofs(runs))
        what = listed(f"{run.node}: {f'{row.name} ' if row.of else ''}{why}" for run, row, why in faulty)
        return Outcome(Status.FAIL, what, proofs=row_proofs((run.file, row) for run, row, _ in faulty))

    return judge


def _present(job: Job) -> Outcome | None:
    machine, shape = job.request.known_machine, job.request.shape
    count = shape.gpus if shape else machine.gpus
    runs = readings_of(job, Preflight)
    faults, lines = [], []
    for run in runs:
        if run.gpus != count:
            faults.append(f"{run.node}: {plural(run.gpus, 'GPU')}")
            lines.append((run.file, run.rows[0]))
        for row in run.of_kind("gpu"):
            name = row.found.get("name", NOT_REPORTED).replace("_", " ")
            if name != machine.gpu.model:
                faults.append(f"{run.node}: {row.name} is {name}")
                lines.append((run.file, row))
    limit = f"{count} {machine.gpu.model} ({machine.name})"
    proofs = row_proofs(lines) or opening_proofs(runs)
    return Outcome(
        passed(not faults), listed(faults) if faults else listed(run.figures() for run in runs), limit, proofs
    )


def _faults(_request: Request, run: Preflight) -> Iterator[Fault]:
    for row in run.of_kind("gpu"):
        values = row.found
        if values.get("ecc") not in ("Enabled", NOT_REPORTED):
            yield row, "has ECC off"
        if (row.number("uncorrected") or 0) > 0:
            yield row, f"has {values['uncorrected']} uncorrected memory errors: drain the node, and reset the GPU"
        if values.get("remap_pending") == "Yes":
            yield row, "has rows to remap: reset it"
        if values.get("remap_failed") == "Yes":
            yield row, "could not remap rows: replace it"
        if (row.number("used_mib") or 0) > _FOREIGN_MIB:
            yield row, f"has {values['used_mib']} MiB in use by others: end their processes"
        limit, default = row.number("power_limit_w"), row.number("default_limit_w")
        if limit is not None and default is not None and limit < default:
            yield row, f"has a power limit of {limit:g} W, not {default:g}"
    for row in run.of_kind("load"):
        reasons = row.found.get("reasons", NOT_REPORTED)
        if _REASONS.fullmatch(reasons) and int(reasons, 16) & _SLOWED:
            yield (
                row,
                f"is slowed by its hardware or temperature (reasons {reasons}, {row.found.get('celsius')} degrees)",
            )


def _links(request: Request, run: Preflight) -> Iterator[Fault]:
    machine = request.known_machine
    links = machine.nvlink.of_a_gpu
    for row in run.of_kind("load"):
        for now, most, what in (("pcie", "pcie_most", "PCIe generation"), ("width", "width_most", "PCIe width")):
            if row.number(now) != row.number(most):
                yield row, f"has {what} {row.found.get(now)}, not {row.found.get(most)}"
    for row in run.of_kind("gpu"):
        if links and row.links != links:
            yield row, f"has {NOT_REPORTED if row.links is None else row.links} active NVLinks, not {links}"
    for row in run.of_kind("link"):
        # A pod with some of the GPUs does not know which of a mesh they are.
        joined = run.gpus == machine.gpus or machine.nvlink.shape in ("switched", "mesh")
        if row.found.get("peer") != "yes" and joined and machine.nvlink.joins(*map(int, row.of)):
            yield row, "have no access to each other's memory"


def _measured(request: Request) -> MeasuredGpu | None:
    return MEASURED_GPUS.get(request.machine.gpu.model) if request.machine else None


def _slow(request: Request, run: Preflight) -> Iterator[Fault]:
    reference = _measured(request)
    assert reference is not None  # noqa: S101 - else the criterion does not apply
    figures = (
        ("load", "tflops", reference.bf16_tflops * reference.share, "TFLOP/s in bf16"),
        ("memory", "copy_gbs", reference.copy_gbs * reference.share, "GB/s in its memory"),
        ("memory", "to_gpu_gbs", reference.host_gbs * reference.host_share, "GB/s from the host"),
        ("memory", "from_gpu_gbs", reference.host_gbs * reference.host_share, "GB/s to the host"),
        ("link", "gbs", reference.link_gbs * reference.share, "GB/s"),
    )
    for what, name, least, unit in figures:
        for row in run.of_kind(what):
            measured = row.number(name)
            if measured is None or measured < least:
                yield row, f"has {row.found.get(name)} {unit}, not {least:.0f}"


def _failed(_request: Request, run: Preflight) -> Iterator[Fault]:
    whys: set[str] = set()
    for row in run.of_kind("failed"):
        why = row.found.get("why", "")
        if why not in whys:
            yield row, f"could not be tested: {why.replace('_', ' ')}"
        whys.add(why)


def _host(request: Request, run: Preflight) -> Iterator[Fault]:
    for row in run.of_kind("host"):
        if request.has_rdma_fabric and row.found.get("memlock_kib") != "unlimited":
            yield row, f"memlock is {row.found.get('memlock_kib')} KiB, not unlimited"
        if (row.number("shm_mib") or 0) < _LEAST_SHM_MIB:
            yield row, f"/dev/shm has {row.found.get('shm_mib')} MiB, not {_LEAST_SHM_MIB}"  # noqa: S108 - shared memory


def _hcas(request: Request, run: Preflight) -> Iterator[Fault]:
    ports = {row.of[0]: row for row in run.of_kind("hca")}
    for hca in request.known_machine.hcas:
        row = ports.get(hca.name)
        if row is None:
            yield run.rows[0], f"{hca.name} is missing"
        elif row.found.get("state") != "ACTIVE" or (row.number("gbps") or 0) < hca.rate_gbps:
            yield row, f"is {row.found.get('state')} at {row.found.get('gbps')} Gb/s, not {hca.rate_gbps}"


def _adapters(job: Job) -> Outcome | None:
    runs = [run for run in readings_of(job, Preflight) if run.of_kind("hca")]
    return _judged(_hcas, "all HCAs of the profile")(job) if runs else None


def _devices(job: Job) -> Outcome | None:
    """Compare the devices that the pod has with those that it requested, one a port."""
    count = len(job.request.devices)
    runs = readings_of(job, Preflight)
    rows = [(run, row) for run in runs for row in run.of_kind("host")]
    if not rows:
        return None
    faulty = [(run, row) for run, row in rows if row.number("uverbs") != count]
    what = listed(f"{run.node}: {row.found.get('uverbs', NOT_REPORTED)}" for run, row in faulty or rows)
    proofs = row_proofs((run.file, row) for run, row in faulty) if faulty else opening_proofs(runs)
    return Outcome(passed(not faulty), f"devices uverbs of {what}", f"{count}, one for each port", proofs)


def _registered(request: Request, run: Preflight) -> Iterator[Fault]:
    tried = {row.of: row for row in run.of_kind("gpudirect")}
    for hca in request.devices:
        for gpu in range(run.gpus):
            row = tried.get((hca, str(gpu)))
            if row is None:
                yield run.rows[0], f"{hca} to GPU {gpu} was not tried"
            elif row.found.get("how") not in ("dmabuf", "peermem"):
                yield row, f"could not register memory ({row.found.get('why', NOT_REPORTED).replace('_', ' ')})"


def _criterion(name: str, title: str, limit: str, applies: str, **more: object) -> Criterion:
    return Criterion(name=name, title=title, limit=limit, applies=applies, source=_SOURCE, **more)  # type: ignore[arg-type]


def _has_machine(request: Request) -> bool:
    return request.machine is not None


def _requests_devices(request: Request) -> bool:
    return bool(request.devices)


_RUNS = "runs of the program preflight"
CRITERIA = (
    _criterion(
        "preflight-tests", "All tests of the node could run", "no test failed", _RUNS,
        judge=_judged(_failed, "every test was made"),
    ),
    _criterion(
        "preflight-gpus", "The node has the GPUs of its profile", "as many GPUs as the pod has, of the profile's model",
        f"{_RUNS} on a known profile", judge=_present, when=_has_machine,
    ),
    _criterion(
        "preflight-gpu-faults", "No GPU has a fault or another process on it",
        "ECC on, no uncorrected error, no row to remap, no lowered power limit, not slowed, no other process's memory",
        _RUNS,
        judge=_judged(_faults, "no fault", "gpu", "load"),
    ),
    _criterion(
        "preflight-links", "PCIe runs at full speed, and all NVLinks are up",
        "PCIe's best generation and width under load, all NVLinks of the profile, peer access between GPUs",
        f"{_RUNS} on a known profile", judge=_judged(_links, "all links", "gpu", "load"), when=_has_machine,
    ),
    _criterion(
        "preflight-speed", "GPUs and links are as fast as others of their model",
        "0.9 of the measured figures in core/hardware/measured/gpus.yaml, 0.75 for copies to the host",
        f"{_RUNS} on a profile whose GPU has been measured",
        judge=_judged(_slow, "as fast as measured", "load", "memory"),
        when=lambda request: _measured(request) is not None,
    ),
    _criterion(
        "preflight-limits", "Memory can be locked and shared", f"memlock unlimited where the fabric has RDMA, /dev/shm "
        f"{_LEAST_SHM_MIB} MiB", _RUNS, judge=_judged(_host, "memlock and /dev/shm"),
    ),
    _criterion(
        "preflight-hcas", "Every HCA of the profile is up", "each ACTIVE, at the profile's rate",
        f"{_RUNS} that see HCAs, on a fabric with RDMA", judge=_adapters, missed=False,
        when=lambda request: request.has_rdma_fabric and _has_machine(request),
    ),
    _criterion(
        "preflight-devices", "The pod has the RDMA devices that it requested", "one uverbs device for each port",
        f"{_RUNS} that request RDMA devices", judge=_devices, when=_requests_devices,
    ),
    _criterion(
        "preflight-gpudirect", "Every HCA reaches the memory of every GPU",
        "each registers memory of each GPU, by DMA-BUF or nvidia-peermem", f"{_RUNS} that request RDMA devices",
        judge=_judged(_registered, "every HCA registers memory of every GPU", "gpudirect"), when=_requests_devices,
    ),
)  # fmt: skip
