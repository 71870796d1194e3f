"""Which GPU is next to which HCA, and which HCAs carried the traffic: the map of a machine, and its ports' state."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evidence.report.markup import Markup, element
from evidence.report.words import plural
from evidence.tools.ibstatus import IbStatus
from evidence.verdict import Job
from hardware.profiles import PROFILES, Hca, Profile

ROW, GPU, GAP = 46, 46, 8  # of the drawing, in its own units: about pixels
LEFT, HCA_LEFT, HCA_WIDTH, WIDTH = 30, 178, 92, 400


@dataclass
class Rails:
    """One profile's machines: what went over each HCA, and which ports did not work, with where that is said."""

    profile: Profile
    channels: Counter[str] = field(default_factory=Counter)
    by_job: dict[str, Mapping[str, int]] = field(default_factory=dict)
    failed: dict[str, list[str]] = field(default_factory=dict)
    seen: bool = False
    """Whether NCCL told of channels at all."""


def rails(jobs: Iterable[Job]) -> tuple[Rails, ...]:
    """Return the maps of the machines that a run's jobs were on, in the order in which they come up."""
    found: dict[str, Rails] = {}
    for job in jobs:
        profile = PROFILES.get(job.asked.profile or "")
        if profile is None:
            continue
        one = found.setdefault(profile.name, Rails(profile))
        used: Counter[str] = Counter()
        for reading in job.readings:
            if reading.nccl is not None:
                one.seen = True
                used.update(reading.nccl.used_devices)
                for host, device in _absent(job, reading.nccl.devices_by_host):
                    _add(one, device, f"not seen by NCCL on {host} ({job.asked.job})")
            if isinstance(reading, IbStatus):
                for port in reading.rows:
                    if not port.up:
                        _add(one, port.device, f"{port.state}, {port.phys_state} in {reading.source or job.asked.job}")
        if used:
            one.by_job[job.asked.job] = used
            one.channels.update(used)
    return tuple(one for one in found.values() if one.profile.hcas or one.by_job)


def _absent(job: Job, by_host: Mapping[str, Sequence[str]]) -> Iterable[tuple[str, str]]:
    wanted = {*job.asked.devices} or {device for devices in by_host.values() for device in devices}
    return ((host, device) for host, devices in by_host.items() for device in sorted(wanted - {*devices}))


def _add(one: Rails, device: str, told: str) -> None:
    reasons = one.failed.setdefault(device, [])
    if told not in reasons:
        reasons.append(told)


def drawing(of: Rails) -> Markup:
    """Return the map: GPUs, the HCA next to them, and its rail, a row for each; a failed port is red and crossed."""
    pieces: list[Markup] = []
    top = 22
    heads = ((LEFT, "GPUs"), (HCA_LEFT, "HCA"), (HCA_LEFT + HCA_WIDTH + 24, "rail"))
    pieces += [element("text", text, x=x, y=12, class_="head") for x, text in heads]
    for numa in sorted({hca.numa for hca in of.profile.hcas}):
        hcas = [(index, hca) for index, hca in enumerate(of.profile.hcas) if hca.numa == numa]
        height = ROW * len(hcas)
        pieces.append(
            element("rect", x=1, y=top, width=HCA_LEFT + HCA_WIDTH + 8, height=height - 4, rx=4, class_="numa")
        )
        centre = top + (height - 4) / 2
        pieces.append(
            element(
                "text", f"NUMA {numa}", x=15, y=centre, transform=f"rotate(-90 15 {centre})", text_anchor="middle",
                dominant_baseline="central", class_="small",
            )
        )  # fmt: skip
        for index, hca in hcas:
            pieces += _row(of, index, hca, top)
            top += ROW
        top += GAP
    told = "; ".join(f"{hca.name} {_state(of, hca.name)}" for hca in of.profile.hcas)
    return element(
        "svg", *pieces, viewBox=f"0 0 {WIDTH} {top}", role="img", class_="map",
        aria_label=f"GPUs, HCAs and rails of {of.profile.model}: {told}",
    )  # fmt: skip


def _row(of: Rails, rail: int, hca: Hca, top: float) -> list[Markup]:
    middle, box = top + ROW / 2 - 2, 30
    failed, used = hca.name in of.failed, of.channels[hca.name] > 0
    state = "failed" if failed else "used" if used else "idle"
    pieces = []
    for place, gpu in enumerate(hca.gpus[:2]):
        left = LEFT + place * (GPU + 6)
        pieces.append(element("rect", x=left, y=middle - box / 2, width=GPU, height=box, rx=3, class_="gpu"))
        pieces.append(_text(f"GPU{gpu}", left + GPU / 2, middle, "middle"))
    if hca.gpus:
        right = LEFT + min(len(hca.gpus), 2) * (GPU + 6) - 6
        pieces.append(element("path", d=f"M{right} {middle}H{HCA_LEFT}", class_="wire"))
        pieces.append(_text(hca.distance or "", (right + HCA_LEFT) / 2, middle - 8, "middle", "small"))
    pieces.append(
        element("rect", x=HCA_LEFT, y=middle - box / 2, width=HCA_WIDTH, height=box, rx=3, class_=f"hca {state}")
    )
    pieces.append(_text(hca.name, HCA_LEFT + HCA_WIDTH / 2, middle, "middle", f"name {state}"))
    end = HCA_LEFT + HCA_WIDTH
    pieces.append(element("path", d=f"M{end} {middle}H{end + 18}", class_=f"link {state}"))
    if failed:
        pieces.append(element("path", d=f"M{end + 4} {middle - 5}l10 10m0 -10l-10 10", class_="cross"))
    pieces.append(_text(f"rail {rail}", end + 24, middle - 8, "start"))
    pieces.append(_text(_state(of, hca.name), end + 24, middle + 8, "start", f"small {state}"))
    return pieces


def _state(of: Rails, device: str) -> str:
    if device in of.failed:
        return "✕ failed"
    if of.channels[device]:
        return plural(of.channels[device], "channel")
    return "no channel" if of.seen else "not told"


def _text(text: str, x: float, y: float, anchor: str, class_: str = "") -> Markup:
    return element("text", text, x=x, y=y, text_anchor=anchor, dominant_baseline="central", class_=class_ or None)
