"""The text format of Prometheus; every HELP line says that the values are simulated.

Not prometheus_client's: it ends the name of every counter in `_total`, and DCGM's exporter does not.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from core.apis.names import SIMULATED

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Sample = tuple[Mapping[str, str], float]
"""Labels and value."""
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


@dataclass(frozen=True)
class Family:
    """All series of one metric."""

    name: str
    kind: Literal["gauge", "counter"]
    text: str
    samples: tuple[Sample, ...]


def exposition(families: Iterable[Family]) -> str:
    """Return the body of an exporter's answer; a metric without series is left out."""
    lines = []
    for family in families:
        if family.samples:
            text = f"{SIMULATED}: {family.text}".replace("\\", r"\\").replace("\n", r"\n")
            lines += [f"# HELP {family.name} {text}", f"# TYPE {family.name} {family.kind}"]
            lines += [f"{family.name}{_labels(labels)} {value:.15g}" for labels, value in family.samples]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, str]) -> str:
    written = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in labels.items() if value)
    return f"{{{written}}}" if written else ""
