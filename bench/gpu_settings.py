"""Compares what a pod sets for NCCL with NCCL's defaults and with a grid of known settings, on a host with GPUs.

    python -m bench.gpu_settings [--gpus 2] [--profile MACHINE] [--rounds 5] [-o out/gpu-settings] [plan|judge]

All settings of gpu_settings.yaml run in turn, in each round in the other order, with the command of the program
torch-collectives. Ratios are geometric means over sizes of medians over rounds: 1 is NCCL's default, more is faster.
"Default again" is one half of the rounds against the other: what differs less than that says nothing. "Pod against the
best" takes the setting that was the fastest in the other rounds, since the fastest of noisy figures flatters itself.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import yaml

from bench import gpus
from cli.shared.paths import ROOT
from cli.shared.tables import show_rows
from evidence.reader import read
from evidence.tools.nccl_tests.model import NcclTests

SETTINGS: Mapping[str, Mapping[str, str]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
DEFAULT, POD = "default", "pod"
PROGRAM = "torch-collectives"
AGAIN, BEST = "default again", "pod against the best"
OWN = "NCCL_"
MIB = 1 << 20
BANDS = (("below 1 MiB", 0, MIB), ("1 to 32 MiB", MIB, 64 * MIB), ("from 64 MiB", 64 * MIB, 1 << 62))
"""Sizes that the table puts together: from, and below, bytes."""

Times = Mapping[tuple[str, int], float]
"""Microseconds of an operation, by collective and bytes."""
Measured = Mapping[str, Sequence[Times]]
"""The rounds of each setting, by its name; the default is the first."""


def variants(job: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the job as its pod runs it, and with each of the settings in place of the pod's."""
    plain = {name: value for name, value in job["environment"].items() if not name.startswith(OWN)}
    others = {name: {**job, "environment": {**plain, **changed}} for name, changed in SETTINGS.items()}
    return {DEFAULT: others.pop(DEFAULT), POD: dict(job), **others}


def times(log: Path) -> Times:
    """Return what a log has measured; raise SystemExit for one without a table."""
    found = {
        (str(run.test), row.bytes): (row.in_place or row.out_of_place).time_us
        for run in read(log)
        if isinstance(run, NcclTests)
        for row in run.rows
    }
    if not found:
        raise SystemExit(f"{log} has no table; its last lines say why")
    return found


def medians(rounds: Sequence[Times]) -> Times:
    """Return the median of each size over the rounds."""
    return {key: median(one[key] for one in rounds) for key in rounds[0]}


def ratios(measured: Measured) -> Iterator[tuple[str, ...]]:
    """Yield a row for each band and setting, with a figure for each collective (`collectives`)."""
    known = {name: medians(rounds) for name, rounds in measured.items()}
    default = measured[DEFAULT]
    known[AGAIN] = medians(default[1::2] or default)
    base = dict.fromkeys(known, known[DEFAULT]) | {AGAIN: medians(default[::2])}
    for band, least, below in BANDS:
        keys = {name: _keys(known[DEFAULT], name, least, below) for name in collectives(measured)}
        if any(keys.values()):
            for name in (AGAIN, *(name for name in measured if name != DEFAULT)):
                yield band, name, *(_figure(_ratio(each, base[name], known[name])) for each in keys.values())
            yield band, BEST, *(_figure(_against_best(measured, each)) for each in keys.values())


def collectives(measured: Measured) -> tuple[str, ...]:
    """Return the collectives in the order of the log."""
    return tuple(dict.fromkeys(name for name, _ in measured[DEFAULT][0]))


def _keys(one: Times, collective: str, least: int, below: int) -> list[tuple[str, int]]:
    return [key for key in one if key[0] == collective and least <= key[1] < below]


def _against_best(measured: Measured, keys: Sequence[tuple[str, int]]) -> float | None:
    """Return the pod's speed against the setting that was the fastest in the other rounds: the mean over the rounds."""
    figures = []
    for number, pod in enumerate(measured[POD]):
        others = {name: [*rounds[:number], *rounds[number + 1 :]] for name, rounds in measured.items()}
        if not others[POD]:
            return None
        middle = {name: medians(rounds) for name, rounds in others.items()}
        best = max(measured, key=lambda name: _ratio(keys, middle[DEFAULT], middle[name]) or 0.0)
        figures.append(_ratio(keys, measured[best][number], pod))
    return geometric_mean(figure for figure in figures if figure) if all(figures) else None


def _ratio(keys: Sequence[tuple[str, int]], base: Times, one: Times) -> float | None:
    return geometric_mean(base[key] / one[key] for key in keys) if keys else None


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def planned(job: Mapping[str, Any], rounds: int) -> list[dict[str, Any]]:
    """Return all runs in their order: every second round backwards, so that drift affects all settings equally."""
    found = []
    for number in range(rounds):
        every = list(variants(job).items())
        for name, one in every if number % 2 == 0 else reversed(every):
            found.append({**one, "name": _run(number, name)})
    return found


def judged(folder: Path) -> None:
    """Print the table of all rounds whose logs are in the folder."""
    names = [DEFAULT, POD, *(name for name in SETTINGS if name != DEFAULT)]
    rounds = 0
    while (folder / f"{_run(rounds, DEFAULT)}.log").exists():
        rounds += 1
    if not rounds:
        raise SystemExit(f"{folder} holds no log of these runs; run bench/gpu_host.py first")
    measured = {name: [times(folder / f"{_run(number, name)}.log") for number in range(rounds)] for name in names}
    show_rows("Speed, 1 = NCCL's default", ("sizes", "setting", *collectives(measured)), [*ratios(measured)])
    sys.stdout.write(f"{rounds} rounds\n")


def _run(number: int, name: str) -> str:
    return f"{number + 1}-{name.replace(' ', '-')}"


def main() -> int:
    """Plan, run and judge, or one of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("plan", "judge"), help="only that")
    parser.add_argument("--gpus", type=int, default=2, help="of the pod")
    parser.add_argument("--profile", default=gpus.DEFAULTS["profile"], help="machine")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("-o", dest="folder", type=Path, default=ROOT / "out" / "gpu-settings")
    given = parser.parse_args()
    if given.what != "judge":
        given.folder.mkdir(parents=True, exist_ok=True)
        wanted = gpus.jobs(gpus.own_settings(given.profile, given.gpus))
        job = next(job for job in wanted if job["name"].startswith(PROGRAM))
        plan = given.folder / "PLAN.json"
        plan.write_text(json.dumps({"jobs": planned(job, given.rounds)}) + "\n")
        if given.what == "plan":
            sys.stdout.write(f"{plan}; run it on the host: python3 gpu_host.py {plan.name} -o logs\n")
            return 0
        subprocess.run([sys.executable, ROOT / "bench/gpu_host.py", plan, "-o", given.folder], check=False)
    judged(given.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
