"""Which GPU is next to which HCA, and which HCAs carried the traffic: the map of a machine, and its ports' state."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from core.hardware.profiles import Hca, Profile
from core.wording import plural
from toolkit.evidence.report.tables import Markup, element
from toolkit.evidence.tools.ibstatus import IbStatus
from toolkit.evidence.verdict import Job

ROW, BOX, GPU, GAP = 46, 30, 46, 8  # of the drawing, in its own units: about pixels
LEFT, GPUS, HCA_LEFT, HCA_WIDTH, WIDTH = 30, 98, 178, 92, 400


@dataclass
class Rails:
    """One profile's machines: the traffic of each HCA, and which ports did not work, with the log that shows it."""

    profile: Profile
    channels: Counter[str] = field(default_factory=Counter)
    by_job: dict[str, Mapping[str, int]] = field(default_factory=dict)
    failed: dict[str, list[str]] = field(default_factory=dict)
    has_nccl: bool = False
    """Whether NCCL printed any channels."""


def rails(jobs: Iterable[Job]) -> tuple[Rails, ...]:
    """Return the maps of the machines that a run's jobs were on, in the order in which they come up."""
    by_profile: dict[str, Rails] = {}
    for job in jobs:
        profile = job.request.machine
        if profile is None:
            continue
        rail_map = by_profile.setdefault(profile.name, Rails(profile))
        used: Counter[str] = Counter()
        for reading in job.readings:
            if reading.nccl is not None:
                rail_map.has_nccl = True
                used.update(reading.nccl.used_devices)
                for host, device in _absent(job, reading.nccl.devices_by_host):
                    _add(rail_map, device, f"not seen by NCCL on {host} ({job.request.job})")
            if isinstance(reading, IbStatus):
                where = reading.source or job.request.job
                for port in (port for port in reading.rows if not port.up):
                    _add(rail_map, port.device, f"{port.state}, {port.phys_state} in {where}")
        if used:
            rail_map.by_job[job.request.job] = used
            rail_map.channels.update(used)
    return tuple(rail_map for rail_map in by_profile.values() if rail_map.profile.hcas or rail_map.by_job)


def _absent(job: Job, by_host: Mapping[str, Sequence[str]]) -> Iterable[tuple[str, str]]:
    expected_devices = {*job.request.devices} or {device for devices in by_host.values() for device in devices}
    return ((host, device) for host, devices in by_host.items() for device in sorted(expected_devices - {*devices}))


def _add(rail_map: Rails, device: str, reason: str) -> None:
    reasons = rail_map.failed.setdefault(device, [])
    if reason not in reasons:
        reasons.append(reason)


def drawing(of: Rails, stamp: str) -> Markup:
    """Return the map: GPUs, the HCAs next to them, each with its rail; a failed port is red and crossed.

    `stamp` is written below.
    """
    heads = ((LEFT, "GPUs"), (HCA_LEFT, "HCA"), (HCA_LEFT + HCA_WIDTH + 24, "rail"))
    pieces = [element("text", text, x=x, y=12, class_="head") for x, text in heads]
    top = 22.0
    for numa in dict.fromkeys(hca.numa for hca in of.profile.hcas):
        numbered = [(index, hca) for index, hca in enumerate(of.profile.hcas) if hca.numa == numa]
        height = ROW * len(numbered) - 4
        pieces.append(element("rect", x=1, y=top, width=HCA_LEFT + HCA_WIDTH + 8, height=height, rx=4, class_="numa"))
        middle = top + height / 2
        pieces.append(_text(f"NUMA {numa}", 15, middle, "middle", "small", turned=f"rotate(-90 15 {middle:g})"))
        for gpus, group in groupby(numbered, key=lambda item: item[1].gpus):
            same = list(group)
            pieces += _gpus(gpus, [hca for _, hca in same], top)
            for row, (rail, hca) in enumerate(same):
                pieces += _port(of, rail, hca, top + row * ROW + ROW / 2 - 2)
            top += ROW * len(same)
        top += GAP
    pieces.append(_text(stamp, WIDTH - 2, top + 6, "end", "small"))
    top += 2 * GAP
    states = "; ".join(f"{hca.name} {_state(of, hca.name)}" for hca in of.profile.hcas)
    label = f"GPUs, HCAs and rails of {of.profile.model}: {states}"
    return element("svg", *pieces, viewBox=f"0 0 {WIDTH} {top:g}", role="img", class_="map", aria_label=label)


def _gpus(gpus: Sequence[int], hcas: Sequence[Hca], top: float) -> Iterator[Markup]:
    """Yield GPUs beside each other, and their wires to the HCAs that are next to them."""
    if not gpus:
        return
    middle = top + ROW * len(hcas) / 2 - 2
    width = min(GPU, (GPUS + 6) / len(gpus) - 6)
    right = LEFT + len(gpus) * (width + 6) - 6
    bend = (right + HCA_LEFT) / 2 - 12
    for row, hca in enumerate(hcas):
        end = top + row * ROW + ROW / 2 - 2
        yield element("path", d=f"M{right:g} {middle:g}H{bend:g}V{end:g}H{HCA_LEFT}", class_="wire")
        yield _text(hca.distance or "", (bend + HCA_LEFT) / 2, end - 8, "middle", "small")
    for place, gpu in enumerate(gpus):
        left = LEFT + place * (width + 6)
        yield element("rect", x=f"{left:g}", y=middle - BOX / 2, width=f"{width:g}", height=BOX, rx=3, class_="gpu")
        yield _text(f"GPU{gpu}" if width == GPU else f"{gpu}", left + width / 2, middle, "middle")


def _port(of: Rails, rail: int, hca: Hca, middle: float) -> Iterator[Markup]:
    """Yield an HCA, its link, and what went over it."""
    state = "failed" if hca.name in of.failed else "used" if of.channels[hca.name] else "idle"
    end = HCA_LEFT + HCA_WIDTH
    yield element("rect", x=HCA_LEFT, y=middle - BOX / 2, width=HCA_WIDTH, height=BOX, rx=3, class_=f"hca {state}")
    yield _text(hca.name, HCA_LEFT + HCA_WIDTH / 2, middle, "middle", f"name {state}")
    yield element("path", d=f"M{end} {middle:g}H{end + 18}", class_=f"link {state}")
    if state == "failed":
        yield element("path", d=f"M{end + 4} {middle - 5:g}l10 10m0 -10l-10 10", class_="cross")
    yield _text(f"rail {rail}", end + 24, middle - 8, "start")
    yield _text(_state(of, hca.name), end + 24, middle + 8, "start", f"small {state}")


def _state(of: Rails, device: str) -> str:
    if device in of.failed:
        return "✕ failed"
    if of.channels[device]:
        return plural(of.channels[device], "channel")
    return "no channel" if of.has_nccl else "unknown"


def _text(
    text: str, x: float, y: float, anchor: str, class_: str | None = None, *, turned: str | None = None
) -> Markup:
    place = {"x": f"{x:g}", "y": f"{y:g}", "text_anchor": anchor, "dominant_baseline": "central"}
    return element("text", text, **place, class_=class_, transform=turned)
