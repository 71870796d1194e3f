"""Logs of hosts and fabric as they come from the field: cut, mixed, with bytes lost."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.mutated import mutations
from tests.toolkit.evidence.tools import logs
from toolkit.evidence.host_parser import HostReading
from toolkit.evidence.reader import read_stream
from toolkit.evidence.secrets import masked
from toolkit.evidence.text import clean, raw_lines

LOGS = Path(__file__).parent.parent / "logs"
_OURS = (
    *("cma-roce", "comware-config", "mlnx-qos", "nvue-config", "nvue-roce", "onyx-config", "onyx-roce", "show-gids"),
    *(
        "esxcli-kernel",
        "esxcli-pci",
        "ib-smnode",
        "ibnetdiscover",
        "lscpu",
        "lsmod",
        "lspci",
        "mlxconfig",
        "mmlscluster",
    ),
    *("mmremotecluster", "net-devices", "nodes", "nvidia-smi", "nvidia-smi-topo", "rdma-job", "semodule"),
)
SAMPLES = {
    **{path.stem: path.read_text() for folder in _OURS for path in sorted((LOGS / folder).glob("*.log"))},
    "lscpu": logs.LSCPU,
    "bond": logs.BOND,
    "ibstat": logs.IBSTAT,
    "mlxconfig": logs.MLXCONFIG.format(ats=""),
    "nvidia-smi": logs.NVIDIA_SMI,
    "topo": logs.TOPOLOGY,
    "ip": logs.IP_LINK,
}
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
_LAST = re.compile(r"\d+(?!.*\d)")
_NOT_PRINTED = {"line", "memlock_bytes", *HostReading.model_fields}
"""Of a row; kilobytes become bytes."""


def _rows(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if isinstance(value.get("line"), int):
            yield value
        for inner in value.values():
            yield from _rows(inner)
    elif isinstance(value, tuple):
        for inner in value:
            yield from _rows(inner)


def _told(value: Any) -> Iterator[str | float]:
    """Yield the texts and figures of a row."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in _NOT_PRINTED:
                yield from _told(inner)
    elif isinstance(value, tuple):
        for inner in value:
            yield from _told(inner)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield value


def _invented(raw: bytes) -> list[str]:
    """Return the figures of rows that do not stand in the line that they name, or below it: some rows have several.

    And texts that stand nowhere: a row may tell the heading above it.
    """
    texts = [clean(number, line).text for number, line in enumerate(raw_lines(io.BytesIO(raw)), 1)]
    whole = "\n".join((*texts, *map(masked, texts)))
    wrong = []
    for reading in read_stream(io.BytesIO(raw), "log"):
        if not isinstance(reading, HostReading):
            continue
        for row in _rows(reading.model_dump()):
            text = "\n".join(texts[row["line"] - 1 :])
            figures = {float(one.replace(",", ".")) for one in _NUMBER.findall(text)}
            wrong += [
                f"{row}: {one!r} is not in line {row['line']}"
                for one in _told(row)
                if (one not in whole if isinstance(one, str) else float(one) not in figures)
            ]
    return wrong


@pytest.mark.parametrize("name", SAMPLES)
def test_damage_gives_no_error_and_no_invention(name: str) -> None:
    """Damage does not raise, and adds no row."""
    assert _invented(SAMPLES[name].encode()) == []
    for raw in mutations(SAMPLES[name], 12):
        assert _invented(raw) == []


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_cut_at_any_place_is_read_up_to_there(name: str) -> None:
    """A log that is cut anywhere has no row that the whole log lacks."""
    whole = SAMPLES[name].encode()
    for at in range(0, len(whole), max(1, len(whole) // 12)):
        assert _invented(whole[:at]) == []


@pytest.mark.parametrize("name", SAMPLES)
def test_figures_of_thousands_of_digits_are_no_figures(name: str) -> None:
    """Figures of thousands of digits, which Python does not convert, do not raise."""
    lines = SAMPLES[name].splitlines()
    for at, line in enumerate(lines):
        mangled = _LAST.sub("1" * 6000, line)
        if mangled != line:
            text = "\n".join([*lines[max(0, at - 40) : at], mangled])
            for reading in read_stream(io.BytesIO(text.encode()), "log"):
                assert not isinstance(reading, HostReading) or "111111" not in str(
                    reading.model_dump(exclude={"unread"})
                )
