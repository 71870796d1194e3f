"""nvidia-smi -q, as text and as XML (-x): each GPU that a pod was given, with what its machine's data gives."""

from collections.abc import Iterator

from core.hardware.gpus import ARCHITECTURES
from core.hardware.profiles import Profile
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.ports import gpu_address
from toolkit.simulator.performance.printed import seeded_bits

Entry = tuple[str, str, "str | list[Entry]"]
"""What a value is called in the text and in the XML, and the value, or what belongs to it."""
WIDTH = 38
"""Columns of a name in the text."""
DTD = "nvsmi_device_v13.dtd"
NOT_GIVEN = "N/A"


def as_text(job: Launched, profile: Profile, memory_mib: int, cuda: str) -> list[str]:
    """Return the text form."""
    lines = ["", "==============NVSMI LOG==============", ""]
    lines += [_pair(0, name, value) for name, _, value in _head(job, cuda)]
    lines.insert(-1, "")
    for gpu in job.me.gpus:
        lines += [f"GPU {gpu_address(profile, gpu)}", *_text(_gpu(job, profile, gpu, memory_mib), 1), ""]
    return lines


def as_xml(job: Launched, profile: Profile, memory_mib: int, cuda: str) -> list[str]:
    """Return the XML form, an element a line."""
    lines = ['<?xml version="1.0" ?>', f'<!DOCTYPE nvidia_smi_log SYSTEM "{DTD}">', "<nvidia_smi_log>"]
    lines += _xml(_head(job, cuda), 1)
    for gpu in job.me.gpus:
        lines.append(f'\t<gpu id="{gpu_address(profile, gpu)}">')
        lines += [*_xml(_gpu(job, profile, gpu, memory_mib), 2), "\t</gpu>"]
    return [*lines, "", "</nvidia_smi_log>"]


def _head(job: Launched, cuda: str) -> list[tuple[str, str, str]]:
    return [
        ("Timestamp", "timestamp", f"{job.started:%a %b} {job.started.day:2} {job.started:%H:%M:%S %Y}"),
        ("Driver Version", "driver_version", job.me.machine.driver or "unknown"),
        ("CUDA Version", "cuda_version", cuda),
        ("Attached GPUs", "attached_gpus", str(len(job.me.gpus))),
    ]


def uuid(machine: str, gpu: int) -> str:
    """Return the UUID of a machine's GPU, GPU-6f1b..., which is invented."""
    digits = f"{seeded_bits(128, machine, 'gpu', gpu):032x}"
    return "GPU-" + "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _gpu(job: Launched, profile: Profile, gpu: int, memory_mib: int) -> list[Entry]:
    address = gpu_address(profile, gpu)
    mode = "Disabled" if profile.gpu.mig_instances else NOT_GIVEN
    watts = f"{profile.gpu.watts}.00 W" if profile.gpu.watts else NOT_GIVEN
    return [
        ("Product Name", "product_name", profile.gpu.model),
        ("Product Brand", "product_brand", ARCHITECTURES[profile.gpu.architecture].brand),
        ("Product Architecture", "product_architecture", profile.gpu.architecture.capitalize()),
        ("Persistence Mode", "persistence_mode", "Enabled"),
        ("MIG Mode", "mig_mode", [("Current", "current_mig", mode), ("Pending", "pending_mig", mode)]),
        ("GPU UUID", "uuid", uuid(job.me.machine.name, gpu)),
        ("Minor Number", "minor_number", str(gpu)),
        ("PCI", "pci", [("Bus", "pci_bus", f"0x{address[9:11]}"), ("Bus Id", "pci_bus_id", address)]),
        (
            "FB Memory Usage",
            "fb_memory_usage",
            [
                ("Total", "total", f"{memory_mib} MiB"),
                ("Used", "used", "0 MiB"),
                ("Free", "free", f"{memory_mib} MiB"),
            ],
        ),
        ("GPU Power Readings", "gpu_power_readings", [("Current Power Limit", "current_power_limit", watts)]),
        ("Processes", "processes", "None"),
    ]


def _text(entries: list[Entry], depth: int) -> Iterator[str]:
    for name, _, value in entries:
        if isinstance(value, str):
            yield _pair(depth, name, value)
        else:
            yield f"{'    ' * depth}{name}"
            yield from _text(value, depth + 1)


def _pair(depth: int, name: str, value: str) -> str:
    return f"{'    ' * depth + name:<{WIDTH}}: {value}"


def _xml(entries: "list[Entry] | list[tuple[str, str, str]]", depth: int) -> Iterator[str]:
    indent = "\t" * depth
    for _, tag, value in entries:
        if isinstance(value, str):
            yield f"{indent}<{tag}>{value}</{tag}>"
        else:
            yield f"{indent}<{tag}>"
            yield from _xml(value, depth + 1)
            yield f"{indent}</{tag}>"
