"""Reads the JSON file that nccl-tests of 2025 and later write with -J: one line, a cut one as far as it is whole.

Source: `jsonOutputInit`, `writeDeviceReport`, `writeBenchmarkLine*` and `writeResultFooter` of src/util.cu of
NVIDIA/nccl-tests (versions 1 and 2 of the file).
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from pydantic import ValidationError

from toolkit.evidence.text import Line
from toolkit.evidence.tools.nccl_tests.checks import Measured, Precision
from toolkit.evidence.tools.nccl_tests.model import Device, Figures, Row, Settings, Spread
from toolkit.evidence.tools.nccl_tests.primitives import PRIMITIVES
from toolkit.evidence.tools.nccl_tests.run import Run

STARTS = r'\{"version":\s*\d+,\s*"start_time":'
_CODES_SINCE_2_9 = 10000
_EXACT = Precision(5e-7, 5e-7, 5e-7)
"""Figures are printed with six digits behind the point."""
_decoder = json.JSONDecoder()
_WRONG_TEXT = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, ValidationError)


def version(code: int) -> str:
    """Return a version of NCCL from its code: 2708 is 2.7.8, 22501 is 2.25.1."""
    parts = (code // 10000, code % 10000 // 100) if code >= _CODES_SINCE_2_9 else (code // 1000, code % 1000 // 100)
    return ".".join(str(part) for part in (*parts, code % 100))


def fill(run: Run, line: Line) -> None:
    """Add what a file holds to a run; what is missing or unreadable is a fault of the run."""
    run.has_table = run.started = True
    run.test = None
    ended = False
    for key, value in _members(line.text):
        try:
            _read_member(run, line, key, value)
        except _WRONG_TEXT:
            run.faults.append(f"`{key}` cannot be read")
        ended = key == ""
    run.concluded = ended and run.out_of_bounds is not None
    if not ended:
        run.faults.append("the file is cut")


def _read_member(run: Run, line: Line, key: str, value: Any) -> None:
    if key == "args":
        name = PurePosixPath(value[0]).name.removesuffix("_mpi").removesuffix("_perf")
        if name in PRIMITIVES:
            run.test, run.test_from = name, "printed"
    elif key == "env":
        pairs = [str(variable).partition("=") for variable in value]
        run.environment = {name: text for name, _, text in pairs if name.startswith("NCCL_")}
    elif key == "nccl_version":
        run.nccl_library = version(value)
    elif key == "config":
        _config(run, line, value)
    elif key == "result":
        run.measured.append(Measured(_row(line, value), (_EXACT,) * (1 if value.get("in_place") is None else 2)))
        run.timed &= "cpu_time" not in value["out_of_place"]
    elif key == "out_of_bounds":
        run.out_of_bounds = int(value["count"])
    elif key == "average_bus_bandwidth":
        run.average = float(value["bandwidth"])
        run.minimum_met = {"true": True, "false": False}.get(value["okay"])
    elif key == "errors":
        for error in value:
            if error:
                run.failed(line.number, str(error))


def _config(run: Run, line: Line, value: Mapping[str, Any]) -> None:
    factor = "step_factor" in value
    run.settings = Settings(
        threads=value["nthreads"],
        gpus=value["ngpus"],
        min_bytes=value["minimum_bytes"],
        max_bytes=value["maximum_bytes"],
        step=value["step_factor"] if factor else value["step_bytes"],
        step_is="factor" if factor else "bytes",
        warmup_iters=value["warmup_iters"],
        iters=value["iterations"],
        agg_iters=value["aggregated_iterations"],
        validation=value["validation"],
        graph=value["graph"],
    )
    # The tool writes the first GPU of each process only (`parseRankInfo`).
    run.ranks_of_a_device_line = run.settings.threads * run.settings.gpus
    for device in value["devices"]:
        run.devices.append(
            Device(
                line=line.number,
                rank=device["rank"],
                group=device["group"],
                pid=device["pid"],
                host=device["hostname"],
                device=device["device"],
                bus_id=device["device_hex"],
                name=device["device_info"],
            )
        )


def _row(line: Line, value: Mapping[str, Any]) -> Row:
    redop = value["redop"]
    inside = value.get("in_place")
    return Row(
        line=line.number,
        bytes=value["size"],
        count=value["count"],
        type=value["type"],
        redop=redop if redop not in ("", "none") else None,
        root=int(value["root"]),
        out_of_place=_figures(value["out_of_place"], value.get("out_of_place_per_iter")),
        in_place=None if inside is None else _figures(inside, value.get("in_place_per_iter")),
    )


def _figures(value: Mapping[str, Any], spread: Mapping[str, Any] | None) -> Figures:
    wrong = value["nwrong"]
    return Figures(
        time_us=value["time"] if "time" in value else value["cpu_time"],
        algbw_gb_s=value["alg_bw"],
        busbw_gb_s=value["bus_bw"],
        wrong=None if wrong is None else int(wrong),
        spread=None
        if spread is None
        else Spread(
            min_us=spread["min_us"],
            max_us=spread["max_us"],
            p99_us=spread["p99_us"],
            variation_percent=spread["cv_pct"],
        ),
    )


def _members(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the members of an object as far as they are whole, each of `results` as `result`, and an empty key last."""
    at = 1
    try:
        while True:
            key, at = _decoder.raw_decode(text, _skip(text, at, ","))
            at = _skip(text, at, ":")
            if key == "results" and text[at : at + 1] == "[":
                at += 1
                while text[at := _skip(text, at, ",")] != "]":
                    value, at = _decoder.raw_decode(text, at)
                    yield "result", value
                at += 1
            else:
                value, at = _decoder.raw_decode(text, at)
                yield str(key), value
            if text[_skip(text, at, "") :] == "}":
                yield "", None
                return
    except (ValueError, IndexError, RecursionError):
        return


def _skip(text: str, at: int, mark: str) -> int:
    """Return the place of the next sign that is neither blank nor, once, `mark`."""
    at += len(text[at:]) - len(text[at:].lstrip()) if text[at : at + 1].isspace() else 0
    if mark and text[at : at + 1] == mark:
        return _skip(text, at + 1, "")
    return at
