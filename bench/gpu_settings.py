"""Compares what a pod sets for NCCL with NCCL's defaults and with a grid of known settings, on a host with GPUs.

    python -m bench.gpu_settings [--gpus 2] [--machine MACHINE] [--rounds 5] [--program torch-resnet50]...
        [-o out/gpu-settings] [plan|judge]

All settings of gpu_settings.yaml run in turn, in each round in the other order, with the command of each program
(default: torch-collectives). Ratios are of medians over rounds, of collectives their geometric means over sizes, of
trainings those of the rate: 1 is NCCL's default, more is faster.
"Default again" is one half of the rounds against the other: what differs less than that says nothing. "Pod against the
best" takes the setting that was the fastest in the other rounds, since the fastest of noisy figures flatters itself.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import yaml

from bench import gpus
from stacks.settings.platform import Settings
from toolkit.cli.shared.console import show_rows
from toolkit.cli.shared.paths import ROOT
from toolkit.evidence.reader import read
from toolkit.evidence.tools.nccl_tests.model import NcclTests

SETTINGS: Mapping[str, Mapping[str, str]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
DEFAULT, POD = "default", "pod"
COLLECTIVES = "torch-collectives"
TRAINING = -1
"""Stands for a message's bytes in the key of a training, whose time is that of a sample."""
RATE = "rate"
"""Metric of a training's program: samples per second."""
AGAIN, BEST = "default again", "pod against the best"
OWN = "NCCL_"
MIB = 1 << 20
BANDS = (
    ("training", TRAINING, 0),
    ("below 1 MiB", 0, MIB),
    ("1 to 32 MiB", MIB, 64 * MIB),
    ("from 64 MiB", 64 * MIB, 1 << 62),
)
"""Sizes that the table puts together: from, and below, bytes."""

Times = Mapping[tuple[str, int], float]
"""Microseconds of an operation, by collective and bytes; of a sample, by program and `TRAINING`."""
Measured = Mapping[str, Sequence[Times]]
"""The rounds of each setting, by its name; the default is the first."""


def variants(job: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the job as its pod runs it, and with each of the settings in place of the pod's."""
    plain = {name: value for name, value in job["environment"].items() if not name.startswith(OWN)}
    others = {name: {**job, "environment": {**plain, **changed}} for name, changed in SETTINGS.items()}
    return {DEFAULT: others.pop(DEFAULT), POD: dict(job), **others}


def times(log: Path, rates: Mapping[str, str]) -> Times:
    """Return what a run has measured; raise SystemExit for a log without figures.

    `rates` are the patterns of the samples per second that trainings print, by program.
    """
    program = log.stem.partition(".")[2]
    if program in rates:
        printed = [float(rate) for rate in re.findall(rates[program], log.read_text())]
        measured = {(program, TRAINING): 1e6 / median(printed)} if printed else {}
    else:
        measured = {
            (str(run.test), row.bytes): (row.in_place or row.out_of_place).time_us
            for run in read(log)
            if isinstance(run, NcclTests)
            for row in run.rows
        }
    if not measured:
        raise SystemExit(f"{log} has no figures; its last lines say why")
    return measured


def medians(rounds: Sequence[Times]) -> Times:
    """Return the median of each size over the rounds."""
    return {key: median(round_[key] for round_ in rounds) for key in rounds[0]}


def ratios(measured: Measured) -> Iterator[tuple[str, ...]]:
    """Yield a row for each band and setting, with a figure for each collective (`collectives`)."""
    medians_of = {name: medians(rounds) for name, rounds in measured.items()}
    default = measured[DEFAULT]
    medians_of[AGAIN] = medians(default[1::2] or default)
    base = dict.fromkeys(medians_of, medians_of[DEFAULT]) | {AGAIN: medians(default[::2])}
    for band, least, below in BANDS:
        keys = {name: _keys(medians_of[DEFAULT], name, least, below) for name in collectives(measured)}
        if any(keys.values()):
            for name in (AGAIN, *(name for name in measured if name != DEFAULT)):
                yield (
                    band,
                    name,
                    *(_figure(_ratio(keys_of_band, base[name], medians_of[name])) for keys_of_band in keys.values()),
                )
            yield band, BEST, *(_figure(_against_best(measured, keys_of_band)) for keys_of_band in keys.values())


def collectives(measured: Measured) -> tuple[str, ...]:
    """Return the collectives in the order of the log."""
    return tuple(dict.fromkeys(name for name, _ in measured[DEFAULT][0]))


def _keys(setting: Times, collective: str, least: int, below: int) -> list[tuple[str, int]]:
    return [key for key in setting if key[0] == collective and least <= key[1] < below]


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


def _ratio(keys: Sequence[tuple[str, int]], base: Times, setting: Times) -> float | None:
    return geometric_mean(base[key] / setting[key] for key in keys) if keys else None


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def planned(jobs: Mapping[str, Mapping[str, Any]], rounds: int) -> list[dict[str, Any]]:
    """Return all runs in their order: every second round backwards, so that drift affects all settings equally.

    `jobs` are the programs' jobs by name of the program.
    """
    runs = []
    for number in range(rounds):
        settings = [DEFAULT, POD, *(name for name in SETTINGS if name != DEFAULT)]
        for name in settings if number % 2 == 0 else reversed(settings):
            runs += [{**variants(job)[name], "name": _run(number, name, program)} for program, job in jobs.items()]
    return runs


def judged(folder: Path, rates: Mapping[str, str]) -> None:
    """Print the table of all rounds whose logs are in the folder."""
    names = [DEFAULT, POD, *(name for name in SETTINGS if name != DEFAULT)]
    rounds = 0
    while [*folder.glob(_run(rounds, DEFAULT, "*.log"))]:
        rounds += 1
    if not rounds:
        raise SystemExit(f"{folder} holds no log of these runs; run bench/gpu_host.py first")
    measured = {name: [_round(folder, number, name, rates) for number in range(rounds)] for name in names}
    show_rows("Speed, 1 = NCCL's default", ("sizes", "setting", *collectives(measured)), [*ratios(measured)])
    sys.stdout.write(f"{rounds} rounds\n")


def _round(folder: Path, number: int, setting: str, rates: Mapping[str, str]) -> Times:
    logs = sorted(folder.glob(_run(number, setting, "*.log")))
    return {key: time for log in logs for key, time in times(log, rates).items()}


def _run(number: int, setting: str, program: str) -> str:
    return f"{number + 1}-{setting.replace(' ', '-')}.{program}"


def patterns(settings: Settings) -> dict[str, str]:
    """Return the pattern of the rate of every training, by program."""
    return {
        name: next(metric.pattern for metric in program.metrics if metric.name == RATE)
        for name in gpus.PROGRAMS
        if (program := settings.program(name)).metrics
    }


def main() -> int:
    """Plan, run and judge, or one of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("plan", "judge"), help="only that")
    parser.add_argument("--gpus", type=int, default=2, help="of the pod")
    parser.add_argument("--machine", default=gpus.DEFAULTS["profile"], help="machine")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("-o", dest="folder", type=Path, default=ROOT / "out" / "gpu-settings")
    parser.add_argument("--program", action="append", choices=gpus.PROGRAMS, help="repeatable")
    options = parser.parse_args()
    stack = gpus.own_settings(options.machine, options.gpus)
    if options.what != "judge":
        options.folder.mkdir(parents=True, exist_ok=True)
        by_program = {
            program: job
            for job in gpus.jobs(stack)
            for program in options.program or [COLLECTIVES]
            if job["name"].startswith(program)
        }
        plan = options.folder / "PLAN.json"
        plan.write_text(json.dumps({"jobs": planned(by_program, options.rounds)}) + "\n")
        if options.what == "plan":
            sys.stdout.write(f"{plan}; run it on the host: python3 gpu_host.py {plan.name} -o logs\n")
            return 0
        subprocess.run([sys.executable, ROOT / "bench/gpu_host.py", plan, "-o", options.folder], check=False)
    judged(options.folder, patterns(stack))
    return 0


if __name__ == "__main__":
    sys.exit(main())
