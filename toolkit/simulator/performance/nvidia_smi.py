"""nvidia-smi: the table of the GPUs that a pod was given, in the form of its driver's time."""

from collections.abc import Sequence

from core.apis.names import SIMULATED
from core.hardware.profiles import Profile
from toolkit.simulator.performance import smi_reports
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.ports import gpu_address
from toolkit.simulator.performance.printed import Printed, seeded

CUDA = (
    (418, "10.1"),
    (430, "10.1"),
    (440, "10.2"),
    (450, "11.0"),
    (455, "11.1"),
    (460, "11.2"),
    (465, "11.3"),
    (470, "11.4"),
    (495, "11.5"),
    (510, "11.6"),
    (515, "11.7"),
    (520, "11.8"),
    (525, "12.0"),
    (530, "12.1"),
    (535, "12.2"),
    (545, "12.3"),
    (550, "12.4"),
    (555, "12.5"),
    (560, "12.6"),
    (565, "12.7"),
    (570, "12.8"),
    (575, "12.9"),
    (580, "13.0"),
)
"""Driver branch -> CUDA that comes with it (NVIDIA's release notes of CUDA, table of drivers)."""
FIRST_WITH_MIG = 450
"""First branch whose table has a third line a GPU, for MIG."""
FIRST_WIDE, FIRST_WIDER = 530, 550
"""First branches whose tables are 12 columns wider, and 14."""
NOT_FOUND = "nvidia-smi: command not found"
MEMORY_SHOWN = 16160 / 16384
"""Part of a GPU's nominal memory that is shown, where no document gives it: that of the Redpaper's GPUs."""
DEGREES = (31, 36)
IDLE_WATTS = (41, 58)
"""Of the Redpaper's idle GPUs."""
SHORT_NAME = 18
"""Characters of a name in the older tables; longer ones end in dots."""


def nvidia_smi(words: Sequence[str], job: Launched) -> Printed:
    """Simulate nvidia-smi, -q, -q -x and topo -m. Without GPU or driver the runtime puts none into the container."""
    machine = job.me.machine
    if not (machine.profile and machine.has_driver and job.me.gpus):
        return Printed((NOT_FOUND,), 127, NOT_FOUND)
    branch = branch_of(machine.driver)
    if "topo" in words[1:]:
        return Printed(tuple(smi_reports.topology_matrix(machine.profile, job.me.gpus, branch)))
    if {"-q", "--query"} & {*words[1:]}:
        form = smi_reports.as_xml if {"-x", "--xml-format"} & {*words[1:]} else smi_reports.as_text
        return Printed(tuple(form(job, machine.profile, memory_mib(machine.profile), cuda(machine.driver))))
    if len(words) > 1:
        return Printed((f"{SIMULATED}: of nvidia-smi only the table, -q, -q -x and topo -m are simulated",))
    return Printed(tuple(_table(job, machine.profile, branch)))


def memory_mib(profile: Profile) -> int:
    """Return the memory of a GPU that is shown, MiB."""
    return profile.gpu.memory_mib or int(profile.gpu.memory_gb * 1024 * MEMORY_SHOWN)


def branch_of(driver: str | None) -> int:
    """Return the branch of a driver, 440 of 440.64; 0 for one that is not known."""
    first = (driver or "").partition(".")[0]
    return int(first) if first.isdecimal() else 0


NOT_KNOWN = "N/A"
"""What stands for a version that no table here has."""


def cuda(driver: str | None) -> str:
    """Return the newest CUDA that a driver can run, N/A for one of which no table here says."""
    branch = branch_of(driver)
    if branch - CUDA[-1][0] >= 5:  # noqa: PLR2004 - branches come in steps of five
        return NOT_KNOWN
    return next((version for first, version in reversed(CUDA) if branch >= first), NOT_KNOWN)


def _table(job: Launched, profile: Profile, branch: int) -> list[str]:
    first, second = (29, 20) if branch < FIRST_WIDE else (39, 20) if branch < FIRST_WIDER else (39, 22)
    widths = (first + 2, second + 2, 22)
    whole = sum(widths) + 2
    version = job.me.machine.driver or "unknown"
    if branch < FIRST_WIDE:
        text = f"NVIDIA-SMI {version:<12} Driver Version: {version:<12} CUDA Version: {cuda(version):<8}"
    else:
        text = f"NVIDIA-SMI {version:<22} Driver Version: {version:<{second - 8}} CUDA Version: {cuda(version):<8}"
    lines = [
        f"{job.started:%a %b} {job.started.day:2} {job.started:%H:%M:%S %Y}",
        f"+{'-' * whole}+",
        f"| {text:<{whole - 2}} |",
        _rule(widths, "-", "|"),
        *(_row(cells, widths) for cells in _headings(branch, widths)),
        _rule(widths, "=", "|"),
    ]
    for index, gpu in enumerate(job.me.gpus):
        lines += [_row(cells, widths) for cells in _gpu(job, profile, index, gpu, branch)]
        lines.append(_rule(widths, "-", "+"))
    return [*lines, "", *_processes(branch, whole)]


def _rule(widths: Sequence[int], sign: str, ends: str) -> str:
    inner = "+".join(sign * width for width in widths)
    return f"{ends}{inner}{'+' if ends == '+' or sign == '-' else '|'}"


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "|" + "|".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)) + "|"


def _cell(left: str, right: str, width: int) -> str:
    """Return a cell with something at either end."""
    return f" {left}{right:>{width - 2 - len(left)}} "


def _headings(branch: int, widths: Sequence[int]) -> list[list[str]]:
    first, second, third = widths
    wide = branch >= FIRST_WIDE
    power = " Fan  Temp   Perf          Pwr:Usage/Cap " if wide else " Fan  Temp  Perf  Pwr:Usage/Cap"
    name = " GPU  Name                 Persistence-M " if wide else " GPU  Name        Persistence-M"
    rows = [
        [name, _cell("Bus-Id", "Disp.A", second), _cell("Volatile", "Uncorr. ECC", third)],
        [power, _cell("", "Memory-Usage", second), _cell("GPU-Util", "Compute M.", third)],
    ]
    if branch >= FIRST_WITH_MIG:
        rows.append([" " * first, " " * second, _cell("", "MIG M.", third)])
    return rows


def _gpu(job: Launched, profile: Profile, index: int, gpu: int, branch: int) -> list[list[str]]:
    wide, wider = branch >= FIRST_WIDE, branch >= FIRST_WIDER
    first, second, third = (41, 24 if wider else 22, 22) if wide else (31, 22, 22)
    draw = seeded(job.run, "nvidia-smi", gpu)
    degrees, watts = draw.randint(*DEGREES), draw.randint(*IDLE_WATTS)
    degrees = job.me.machine.faults.celsius.get(gpu, degrees)
    limit = f"{profile.gpu.watts}W" if profile.gpu.watts else "N/A"
    total = memory_mib(profile)
    name = profile.gpu.model
    if wide:
        named = _cell(f"{index:3}  {name}", "On  ", first)
        power = _cell(f"N/A   {degrees}C    P0", f"{watts}W / {limit:>{5 if wider else 4}}", first)
        memory = f"{0:7}MiB / {total:6}MiB" if wider else _memory(total)
    else:
        short = name if len(name) < SHORT_NAME else f"{name[: SHORT_NAME - 3]}..."
        named = f" {index:3}  {short:<18}  On   "
        power = f" N/A   {degrees}C    P0   {f'{watts}W / {limit:>4}':>11} "
        memory = _memory(total)
    rows = [
        [named, _cell("", f"{gpu_address(profile, gpu)} Off", second), _cell("", "0", third)],
        [power, _cell("", memory, second), _cell("     0%", "Default", third)],
    ]
    if branch >= FIRST_WITH_MIG:
        mode = "Disabled" if profile.gpu.mig_instances else "N/A"
        rows.append([" " * first, " " * second, _cell("", mode, third)])
    return rows


def _memory(total: int) -> str:
    """Return the cell of the memory, equally wide for all sizes."""
    return f"{0:{11 - max(len(str(total)), 5)}}MiB / {total:5}MiB"


def _processes(branch: int, whole: int) -> list[str]:
    if branch < FIRST_WITH_MIG:
        heads = [
            _cell("Processes:", "GPU Memory", whole),
            _cell(" GPU       PID   Type   Process name", "Usage     ", whole),
        ]
    else:
        heads = [
            _cell("Processes:", "", whole),
            _cell(" GPU   GI   CI        PID   Type   Process name", "GPU Memory", whole),
            _cell("       ID   ID", "Usage     ", whole),
        ]
    rule = f"+{'-' * whole}+"
    text = _cell(" No running processes found", "", whole)
    return [rule, *(f"|{head}|" for head in heads), f"|{'=' * whole}|", f"|{text}|", rule]
