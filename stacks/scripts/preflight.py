"""Tests the node that it runs on, in some seconds and without privilege, and prints what it found.

    python3 preflight.py

One line for each thing: `preflight <what> key=value ...`. It judges nothing: limits depend on the machine, and
`./hpc verify` has them. All GPUs that it sees are tested, two at a time for the links between them.
"""

import ctypes
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

_FIELDS = {
    "name": "name",
    "memory_mib": "memory.total",
    "used_mib": "memory.used",
    "ecc": "ecc.mode.current",
    "uncorrected": "ecc.errors.uncorrected.volatile.total",
    "remap_pending": "remapped_rows.pending",
    "remap_failed": "remapped_rows.failure",
    "power_limit_w": "power.limit",
    "default_limit_w": "power.default_limit",
    "driver": "driver_version",
    "mig": "mig.mode.current",
}
_LOADED = {
    "sm_mhz": "clocks.sm",
    "most_mhz": "clocks.max.sm",
    "power_w": "power.draw",
    "celsius": "temperature.gpu",
    "reasons": "clocks_event_reasons.active",
    "pcie": "pcie.link.gen.current",
    "pcie_most": "pcie.link.gen.max",
    "width": "pcie.link.width.current",
    "width_most": "pcie.link.width.max",
}
_MATRIX = 8192
_LOAD_SECONDS = 1.5
_COPY_BYTES = 4 << 30
_HOST_BYTES = 512 << 20
_LINK_BYTES = 1 << 30
_COPIES = 3
"""Measurements of a copy to the host, of which the best counts: of 18, two were 31 and 32 GB/s, the others 51 to 55."""
_REGISTERED_BYTES = 32 << 20
"""Memory of a GPU that an adapter is to reach: as much gets an allocation of its own, which begins at a page."""
_REMOTE = 0x7
"""IBV_ACCESS_LOCAL_WRITE, _REMOTE_WRITE and _REMOTE_READ."""
_DMABUF = 1
"""CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD."""
_REASON = 400
"""Characters of an error: CUDA's own is at the end of PyTorch's."""


def say(what: str, **figures: object) -> None:
    """Print one line; blanks in values are not separators, so they become underscores."""
    words = (f"{key}={str(value).strip().replace(' ', '_')}" for key, value in figures.items())
    sys.stdout.write(f"preflight {what} {' '.join(words)}\n")
    sys.stdout.flush()


def query(fields: dict[str, str], gpu: int) -> dict[str, str]:
    """Return what nvidia-smi reports of a GPU; what it does not know is `none`."""
    command = [
        "nvidia-smi",
        f"--query-gpu={','.join(fields.values())}",
        "--format=csv,noheader,nounits",
        "-i",
        _bus(gpu),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return dict.fromkeys(fields, "none")
    values = [value.strip() for value in done.stdout.split(",")]
    return dict(zip(fields, ("none" if "N/A" in value or not value else value for value in values), strict=False))


def nvlinks(gpu: int) -> str:
    """Return the active links of a GPU and the speed of the slowest, e.g. `18x26.562`."""
    try:
        done = subprocess.run(
            ["nvidia-smi", "nvlink", "-s", "-i", _bus(gpu)], check=False, capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return "none"
    speeds = [float(line.split()[2]) for line in done.stdout.splitlines() if line.strip().endswith("GB/s")]
    return f"{len(speeds)}x{min(speeds):g}" if speeds else "0x0"


def _bus(gpu: int) -> str:
    properties = torch.cuda.get_device_properties(gpu)
    return f"{properties.pci_domain_id:08x}:{properties.pci_bus_id:02x}:{properties.pci_device_id:02x}.0"


def seconds(gpu: int, call: Callable[[], object], times: int) -> float:
    """Return the time of one call, by events on the GPU; the first call is not counted."""
    torch.cuda.set_device(gpu)
    call()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(times):
        call()
    end.record()
    torch.cuda.synchronize(gpu)
    return float(begin.elapsed_time(end)) / 1000 / times


def load(gpu: int) -> None:
    """Multiply matrices, and ask for clocks and the PCIe link while the GPU is busy: it rests at a lower one."""
    left, right = (torch.randn(_MATRIX, _MATRIX, dtype=torch.bfloat16, device=f"cuda:{gpu}") for _ in range(2))
    result = torch.empty_like(left)

    def multiply() -> None:
        torch.matmul(left, right, out=result)

    once = seconds(gpu, multiply, 3)
    times = max(8, int(_LOAD_SECONDS / once))
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(times):
        multiply()
    end.record()
    busy = query(_LOADED, gpu)
    torch.cuda.synchronize(gpu)
    rate = 2 * _MATRIX**3 * times / (float(begin.elapsed_time(end)) / 1000)
    say(f"load {gpu}", tflops=round(rate / 1e12, 1), **busy)


def memory(gpu: int) -> None:
    """Copy on the GPU, and between it and the host."""
    device = f"cuda:{gpu}"
    source = torch.empty(_COPY_BYTES, dtype=torch.uint8, device=device).random_()
    target = torch.empty_like(source)
    copied = 2 * _COPY_BYTES / seconds(gpu, lambda: target.copy_(source), 8)
    host = torch.empty(_HOST_BYTES, dtype=torch.uint8, pin_memory=True)
    here = target[:_HOST_BYTES]
    copies: list[Callable[[], object]] = [
        lambda: here.copy_(host, non_blocking=True),
        lambda: host.copy_(here, non_blocking=True),
    ]
    down, up = (_HOST_BYTES / min(seconds(gpu, copy, 4) for _ in range(_COPIES)) for copy in copies)
    say(f"memory {gpu}", copy_gbs=round(copied / 1e9), to_gpu_gbs=round(down / 1e9, 1), from_gpu_gbs=round(up / 1e9, 1))


def link(gpu: int, other: int) -> None:
    """Copy from one GPU to another, without NCCL: what is slow here is the link, or the lack of one."""
    source = torch.empty(_LINK_BYTES, dtype=torch.uint8, device=f"cuda:{gpu}")
    target = torch.empty(_LINK_BYTES, dtype=torch.uint8, device=f"cuda:{other}")
    rate = _LINK_BYTES / seconds(gpu, lambda: target.copy_(source, non_blocking=True), 8)
    direct = torch.cuda.can_device_access_peer(gpu, other)
    say(f"link {gpu} {other}", peer="yes" if direct else "no", gbs=round(rate / 1e9, 1))


def host() -> None:
    """Print what the pod has of the host: limits, shared memory, adapters."""
    hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    locked = "unlimited" if hard == resource.RLIM_INFINITY else hard >> 10
    where = Path("/dev/shm")  # noqa: S108 - shared memory, no temporary file
    sizes = subprocess.run(["df", "-m", "--output=size", where], check=False, capture_output=True, text=True).stdout
    shared = int(sizes.split()[-1])
    verbs = len([*Path("/dev/infiniband").glob("uverbs*")])
    say("host", memlock_kib=locked, shm_mib=shared, uverbs=verbs, cpus=len(os.sched_getaffinity(0)))
    for port in sorted(Path("/sys/class/infiniband").glob("*/ports/*")):
        state, rate = ((port / name).read_text().split() for name in ("state", "rate"))
        say(f"hca {port.parent.parent.name}", port=port.name, state=state[-1], gbps=rate[0])


def gpudirect(gpus: int) -> None:
    """Let every adapter that the pod has register memory of every GPU, which is what GPUDirect RDMA needs."""
    if not any(Path("/dev/infiniband").glob("uverbs*")):
        return
    verbs = ctypes.CDLL("libibverbs.so.1", use_errno=True)
    verbs.ibv_get_device_name.restype = ctypes.c_char_p
    for returns_pointer in ("get_device_list", "open_device", "alloc_pd", "reg_mr"):
        getattr(verbs, f"ibv_{returns_pointer}").restype = ctypes.c_void_p
    count = ctypes.c_int()
    devices = verbs.ibv_get_device_list(ctypes.byref(count))
    for device in (ctypes.c_void_p * count.value).from_address(devices) if devices else ():
        hca = verbs.ibv_get_device_name(ctypes.c_void_p(device)).decode()
        opened = verbs.ibv_open_device(ctypes.c_void_p(device))
        if not opened:  # the machine has it, and the pod does not
            continue
        domain = ctypes.c_void_p(verbs.ibv_alloc_pd(ctypes.c_void_p(opened)))
        for gpu in range(gpus):
            how, why = registered(verbs, domain, gpu)
            say(f"gpudirect {hca} {gpu}", how=how, why=why)
        verbs.ibv_dealloc_pd(domain)
        verbs.ibv_close_device(ctypes.c_void_p(opened))


def registered(verbs: ctypes.CDLL, domain: ctypes.c_void_p, gpu: int) -> tuple[str, str]:
    """Register memory of a GPU by DMA-BUF, else by the module nvidia-peermem; return how, and else why not."""
    if not domain.value:
        return "none", "no_protection_domain"
    block = torch.empty(_REGISTERED_BYTES, dtype=torch.uint8, device=f"cuda:{gpu}")
    size, access = ctypes.c_size_t(_REGISTERED_BYTES), ctypes.c_int(_REMOTE)
    start, why = ctypes.c_void_p(block.data_ptr()), ""
    handle = exported(block) if hasattr(verbs, "ibv_reg_dmabuf_mr") else -1  # since rdma-core 34
    if handle >= 0:
        zero, iova = ctypes.c_uint64(0), ctypes.c_uint64(block.data_ptr())
        verbs.ibv_reg_dmabuf_mr.restype = ctypes.c_void_p
        region = verbs.ibv_reg_dmabuf_mr(domain, zero, size, iova, ctypes.c_int(handle), access)
        why = f"dmabuf: {os.strerror(ctypes.get_errno())}, "
        os.close(handle)
        if region:
            verbs.ibv_dereg_mr(ctypes.c_void_p(region))
            return "dmabuf", "none"
    region = verbs.ibv_reg_mr(domain, start, size, access)
    if region:
        verbs.ibv_dereg_mr(ctypes.c_void_p(region))
        return "peermem", "none"
    return "none", f"{why}peermem: {os.strerror(ctypes.get_errno())}"


def exported(block: torch.Tensor) -> int:
    """Return a DMA-BUF of a GPU's memory; -1: driver or kernel have none."""
    cuda, handle = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(-1)
    export = getattr(cuda, "cuMemGetHandleForAddressRange", None)  # since CUDA 11.7
    if export is None:
        return -1
    torch.cuda.set_device(block.device)
    size, start = ctypes.c_size_t(_REGISTERED_BYTES), ctypes.c_uint64(block.data_ptr())
    failed = export(ctypes.byref(handle), start, size, ctypes.c_int(_DMABUF), ctypes.c_uint64(0))
    return -1 if failed else handle.value


def main() -> int:
    """Test everything; a test that fails is a line, so that the others are made."""
    begun = time.monotonic()
    gpus = torch.cuda.device_count()
    node = Path("/proc/sys/kernel/hostname").read_text().strip()
    say("begins", node=node, gpus=gpus, torch=torch.__version__, cuda=torch.version.cuda)
    attempts: list[tuple[Callable[..., None], tuple[int, ...]]] = [(host, ())]
    for gpu in range(gpus):
        attempts += [(facts, (gpu,)), (load, (gpu,)), (memory, (gpu,))]
    attempts += [(gpudirect, (gpus,))] if gpus else []
    attempts += [(link, (gpu, other)) for gpu in range(gpus) for other in range(gpus) if gpu != other]
    for test, of in attempts:
        try:
            test(*of)
        except (RuntimeError, OSError, ValueError, IndexError) as error:
            say(f"failed {test.__name__} {'-'.join(map(str, of)) or '-'}", why=str(error).splitlines()[0][:_REASON])
        torch.cuda.empty_cache()
    say("ends", node=node, seconds=round(time.monotonic() - begun, 1))
    return 0


def facts(gpu: int) -> None:
    """Print what nvidia-smi reports of a GPU that rests."""
    say(f"gpu {gpu}", **query(_FIELDS, gpu), nvlinks=nvlinks(gpu))


if __name__ == "__main__":
    sys.exit(main())
