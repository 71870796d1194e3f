"""Tables of nccl-tests: every version and primitive, whole and damaged."""

import io
import json
import math
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.apis.nccl import bus_factor
from tests.support.mutated import drawn_damage, only
from tests.toolkit.evidence.tools import nccl_tables
from tests.toolkit.evidence.tools.nccl_tables import Run, table
from toolkit.evidence.reader import read, read_stream
from toolkit.evidence.tools.nccl_tests import PRIMITIVES, NcclTests, NcclTestsParser

LOGS = Path(__file__).parent.parent / "logs" / "nccl-tests"


def _all(text: str) -> list[NcclTests]:
    found = read_stream(io.BytesIO(text.encode("utf-8", "surrogateescape")), "log", (NcclTestsParser,))
    return [one for one in found if isinstance(one, NcclTests)]


def _read(text: str) -> NcclTests:
    (found,) = _all(text)
    return found


def _figures(text: str) -> list[list[str]]:
    """Return the words of the rows of a table by the simplest reading there is."""
    return [line.split() for line in text.splitlines() if re.match(r" +\d+ +\d+ +float ", line)]


@pytest.mark.parametrize(
    ("name", "ranks", "hosts", "mean", "printed"),
    [
        ("redp5610-4.4-01x08", 8, 1, 28.3212, None),
        ("redp5610-4.4-02x08", 16, 2, 12.3088, 12.3088),
        ("redp5610-4.4-16x01", 16, 16, 1.9302, None),
    ],
)
def test_the_papers_tables_are_read_to_the_last_figure(
    name: str, ranks: int, hosts: int, mean: float, printed: float | None
) -> None:
    """The Redpaper's tables are read to the last figure."""
    path = LOGS / f"{name}.log"
    found = only(NcclTests, path)
    words = _figures(path.read_text())
    assert len(found.rows) == len(words) == 26
    for row, line in zip(found.rows, words, strict=True):
        assert row.in_place is not None
        halves = (row.out_of_place, row.in_place)
        figures = [one for half in halves for one in (half.time_us, half.algbw_gb_s, half.busbw_gb_s, half.error)]
        assert [row.bytes, row.count, row.type, row.redop, *figures] == [
            int(line[0]),
            int(line[1]),
            line[2],
            line[3],
            *(float(one) for one in line[4:]),
        ]
        assert {half.wrong for half in halves} == {None}
    assert (found.ranks, len(found.hosts), found.test, found.test_from) == (ranks, hosts, "all_reduce", "inferred")
    assert found.average_recomputed_gb_s is not None
    assert math.floor(found.average_recomputed_gb_s * 1e4) / 1e4 == pytest.approx(mean, abs=1.01e-4)
    assert (found.average_busbw_gb_s, found.average_agrees) == (printed, True if printed else None)
    # Examples 4-1 and 4-3 are printed without the footer: rows in full, and still not a whole run.
    assert (found.complete, found.incomplete) == ((True, None) if printed else (False, "no footer"))
    assert (found.contradictions, found.unread, found.missing_bytes) == ((), (), ())


def test_what_nccl_says_in_the_middle_of_a_table_is_not_the_tables() -> None:
    """Messages of NCCL in the middle of a table are not the table's."""
    (found,) = read(LOGS / "redp5610-4.4-02x08.log")
    assert found.unread_total == 0
    assert found.nccl is not None


@pytest.mark.parametrize("form", ["2.0", "2.13", "2.18"])
@pytest.mark.parametrize("test", sorted(PRIMITIVES))
@pytest.mark.parametrize("ranks", [2, 8, 16])
def test_every_primitive_of_every_version_is_read(form: str, test: str, ranks: int) -> None:
    """Every primitive of every version is read."""
    run = Run(test=test, form=form, ranks=ranks)
    found = _read(table(run))
    assert (found.complete, found.incomplete, found.unread_total) == (True, None, 0)
    assert len(found.rows) == 11
    assert found.average_agrees
    assert found.ranks == ranks
    if form == "2.18":
        assert (found.test, found.test_from) == (test, "printed")
        assert (found.tool_version, found.nccl_headers, found.nccl_library) == ("2.18.3", "2.28.9", "2.29.3")
    if found.test is not None:
        assert found.test == test
        assert found.bus_factor == pytest.approx(bus_factor(test, ranks))
    for row, (size, count) in zip(found.rows, nccl_tables.sizes(run), strict=True):
        time, algbw, busbw = nccl_tables.half(run, size, 1.0)
        assert (row.bytes, row.count) == (size, count)
        assert row.redop == ("sum" if PRIMITIVES[test].reduces else None)
        assert row.out_of_place.time_us == pytest.approx(time, rel=1e-3)
        assert row.out_of_place.busbw_gb_s == pytest.approx(busbw, abs=0.006)
        assert row.out_of_place.wrong == (None if form == "2.0" else 0)
        assert row.out_of_place.error == (5e-07 if form == "2.0" else None)
        assert algbw > 0


def test_bus_factors_are_those_of_the_documents() -> None:
    """Bus factors are those of the documents (all-reduce has 2(n-1)/n)."""
    assert {test: bus_factor(test, 16) for test in PRIMITIVES} == {
        "all_gather": 15 / 16,
        "all_reduce": 1.875,
        "alltoall": 15 / 16,
        "broadcast": 1,
        "gather": 15 / 16,
        "hypercube": 1,
        "reduce": 1,
        "reduce_scatter": 15 / 16,
        "scatter": 15 / 16,
        "sendrecv": 1,
    }


def test_a_test_without_a_name_is_named_only_when_no_other_fits() -> None:
    """A test without a name is named only when no other fits."""
    for test, form, name in (
        ("all_reduce", "2.0", "all_reduce"),
        ("reduce_scatter", "2.0", "reduce_scatter"),
        ("reduce", "2.13", "reduce"),
        ("broadcast", "2.0", "broadcast"),
        ("all_gather", "2.0", None),
        ("alltoall", "2.13", None),
        ("gather", "2.13", None),
        ("hypercube", "2.13", None),
    ):
        found = _read(table(Run(test=test, form=form)))
        assert found.test == name
        assert found.bus_factor == pytest.approx(bus_factor(test, 16))
    small = _read(table(Run(form="2.0", low=8, high=64)))
    assert (small.test, small.test_from, small.bus_factor) == (None, None, None)
    command = _read("+ mpirun -np 16 /opt/nccl-tests/alltoall_perf -b 1K\n" + table(Run(test="alltoall", form="2.13")))
    assert (command.test, command.test_from) == ("alltoall", "command")


def test_bandwidths_of_the_papers_time_are_read() -> None:
    """An all-gather of before June 2020, whose algbw is its busbw, is read without contradiction (issue 45)."""
    for test, name in (("all_gather", None), ("reduce_scatter", "reduce_scatter")):
        text = table(Run(test=test, form="2.0", variant=1))
        found = _read(text)
        assert (found.complete, found.test, found.bus_factor, len(found.rows)) == (True, name, 1.0, 11)
        named = _read(f"$ ./build/{test}_perf -b 1K -e 1M -f 2\n{text}")
        assert (named.complete, named.bus_factor) == (True, 1.0)
    first = _read("+ alltoall_perf -b 1K\n" + table(Run(test="alltoall", form="2.0", variant=1)))
    assert first.complete
    assert first.bus_factor == pytest.approx(16 / 15)


def test_a_test_of_two_ranks_may_be_one_of_several() -> None:
    """Of two ranks, a table with `sum` may be an all-reduce or a sendrecv, and is named neither."""
    text = table(Run(test="sendrecv", form="2.13", ranks=2)).replace("  none", "   sum")
    assert "sum" in text
    found = _read(text)
    assert (found.test, found.bus_factor, found.complete) == (None, 1.0, True)


def test_commands_name_tests() -> None:
    """A shell's trace, or mpirun's command, names the test."""
    text = table(Run(test="gather", form="2.13"))
    for command in (
        "+ /opt/nccl-tests/build/gather_perf -b 1K -e 1M -f 2",
        "root@dgx01:~# NCCL_DEBUG=WARN ./gather_perf -b 1K",
        "$ mpirun -np 16 -x NCCL_IB_HCA=mlx5_0 --mca btl ^openib /workspace/gather_perf -g 1",
    ):
        assert [(one.test, one.test_from, one.complete) for one in _all(f"{command}\n{text}")] == [
            ("gather", "command", True)
        ]
    # The build names all programs, and runs none.
    assert _all("Linking  ../build/all_reduce.o > ../build/all_reduce_perf\n") == []
    written = _read("# Writing JSON output to out.json\n" + table(Run()))
    assert written.complete


def test_results_that_are_not_checked_are_not_right() -> None:
    """`N/A` is not read as zero wrong elements."""
    for form in ("2.0", "2.13", "2.18"):
        found = _read(table(Run(form=form, checked=False)))
        assert {(row.out_of_place.wrong, row.out_of_place.error) for row in found.rows} == {(None, None)}
        assert found.settings is not None
        assert found.settings.validation == 0
        assert found.complete


@pytest.mark.parametrize("wrong", [1, 37, -5, 1_048_580, 16_777_200])
def test_wrong_elements_are_counted(wrong: int) -> None:
    """Wrong elements are counted, in the form of %g too (1.04858e+06)."""
    found = _read(table(Run(wrong=wrong)))
    assert {row.out_of_place.wrong for row in found.rows} == {wrong}
    assert found.out_of_bounds == 22


def test_columns_of_newer_options_are_read() -> None:
    """Per-iteration columns, CPU times and time stamps do not shift the others."""
    spread = _read(table(Run(spread=True)))
    first = spread.rows[0].out_of_place
    assert first.spread is not None
    assert first.spread.min_us < first.time_us < first.spread.p99_us < first.spread.max_us
    assert first.spread.variation_percent == 4.2
    assert _read(table(Run(stamped=True))).complete
    # The time that -C prints is the CPU's, so bandwidth need not follow from it.
    cpu = table(Run(cpu_time=True))
    faster = re.sub(r"(sum +-1 +)(\S+)", lambda found: found[1] + "1.00".rjust(len(found[2])), cpu)
    assert _read(faster).complete
    assert not _read(faster.replace("cputime", "time")).complete


def test_a_minimum_of_the_average_is_read() -> None:
    """A run below its own minimum is read as such (NCCL_TESTS_MIN_BW)."""
    assert _read(table(Run())).minimum_met is None
    assert _read(table(Run(minimum="OK"))).minimum_met is True
    assert _read(table(Run(minimum="FAILED"))).minimum_met is False


def test_decimal_commas_are_read() -> None:
    """Decimal commas are read."""
    plain, comma = table(Run()), re.sub(r"(\d)\.(\d\d?\b)(?!\.)", r"\1,\2", table(Run()))
    assert "," in comma
    comma = comma.replace("2,18", "2.18")
    assert _read(comma).rows == _read(plain).rows


def test_devices_are_read_in_both_forms() -> None:
    """Ranks, hosts and GPUs are read in both forms."""
    for form, bus in (("2.0", "0x06"), ("2.18", "0000:06:00")):
        found = _read(table(Run(form=form)))
        first, last = found.devices[0], found.devices[-1]
        assert (first.rank, first.pid, first.host, first.device, first.bus_id) == (0, 30, "worker-0", 0, bus)
        assert (last.rank, last.host, last.name) == (15, "worker-1", "Tesla V100-SXM2-16GB")
        assert found.hosts == nccl_tables.HOSTS


def test_groups_have_factors_of_their_own() -> None:
    """Communicators of NCCL_TESTS_SPLIT have factors of their own."""
    text = table(Run(ranks=8))
    split = re.sub(r"Rank ( ?\d+) Group  0", lambda found: f"Rank {found[1]} Group  {int(found[1]) % 2}", text)
    found = _read(split)
    assert (found.ranks, found.group_ranks, found.groups) == (8, 4, 2)
    assert found.contradictions  # Its busbw is that of eight ranks.


def test_sizes_that_are_not_there_are_named() -> None:
    """Sizes that are absent are named."""
    lines = table(Run(form="2.0")).splitlines(keepends=True)
    rows = [index for index, line in enumerate(lines) if re.match(r" +\d+ +\d+ +float", line)]
    without_last = _read("".join(line for index, line in enumerate(lines) if index != rows[-1]))
    assert (without_last.missing_bytes, without_last.complete) == ((1 << 20,), False)
    without_middle = _read("".join(line for index, line in enumerate(lines) if index != rows[3]))
    assert without_middle.missing_bytes == (8192,)
    cut = _read("".join(lines[: rows[4]]))
    assert cut.missing_bytes == tuple(1 << power for power in range(14, 21))
    assert cut.incomplete == "sizes are missing: 16384, 32768, 65536, 131072, 262144 and 2 more B; no footer"


def test_sizes_that_are_rounded_are_not_missing() -> None:
    """An all-gather from 8 B over 16 ranks, which prints size 0 four times, is complete."""
    found = _read(table(Run(test="all_gather", low=8)))
    assert [row.bytes for row in found.rows[:4]] == [0, 0, 0, 64]
    assert found.complete


def test_a_smaller_memory_makes_fewer_sizes() -> None:
    """A run that announced fewer sizes is complete with them."""
    text = table(Run(high=1 << 16)).replace("maxBytes 65536", "maxBytes 1048576")
    assert _read(text).missing_bytes == (1 << 17, 1 << 18, 1 << 19, 1 << 20)
    found = _read(text.replace("#\n# Using", "#\n# Reducing maxBytes to 70000 due to memory limitation\n# Using"))
    assert (found.complete, found.reduced_max_bytes) == (True, 70000)


def test_several_cycles_types_and_runs_are_told_apart() -> None:
    """-N, -d all and repeats in one log are tables of their own."""
    text = table(Run())
    rows = "".join(line for line in text.splitlines(keepends=True) if " float " in line)
    assert _read(text.replace(rows, rows * 3)).complete
    doubles = rows.replace("  float", "   half")
    assert not _read(text.replace(rows, rows + doubles)).complete  # Counts are not those of two bytes an element.
    twice = _all(text + text.replace("all_reduce", "broadcast"))
    assert [one.test for one in twice] == ["all_reduce", "broadcast"]
    old = table(Run(form="2.0"))
    assert [one.complete for one in _all(old * 5)] == [True] * 5


def test_a_row_whose_figures_contradict_each_other_is_no_row() -> None:
    """A row whose figures contradict each other is not a row."""
    text = table(Run(form="2.0"))
    line = next(line for line in text.splitlines() if line.startswith(f"{1 << 20:12d}"))
    words = line.split()
    for place in (4, 5, 6, 8, 9, 10, 1):
        damaged = list(words)
        damaged[place] = damaged[place][1:] if len(damaged[place]) > 1 else "9"
        found = _read(text.replace(line, "  ".join(damaged)))
        assert 1 << 20 not in {row.bytes for row in found.rows}, damaged
        assert not found.complete
        assert len(found.contradictions) + found.unread_total >= 1


def test_merged_and_cut_rows_are_unread() -> None:
    """Merged and cut rows are unread."""
    text = table(Run())
    lines = text.splitlines()
    at = next(index for index, line in enumerate(lines) if " float " in line)
    whole = lines[at]
    for damaged in (whole[:60], whole[30:], whole[:50] + lines[at + 1], whole + whole, whole[:-2] + "x"):
        found = _read("\n".join([*lines[:at], damaged, *lines[at + 1 :]]) + "\n")
        assert [one.line for one in found.unread] == [at + 1], damaged
        assert [row.line for row in found.rows] == list(range(at + 2, at + 12))
        assert not found.complete


def test_a_program_that_failed_says_so() -> None:
    """A program that failed is incomplete, whether its table is whole or not."""
    text = table(Run())
    for failure in (
        "worker-1: Test NCCL failure common.cu:961 'unhandled system error / '",
        " .. worker-1 pid 31: Test failure common.cu:844",
        "worker-0: Test CUDA failure common.cu:730 'unknown error'",
        "Invalid number of GPUs: 8 requested but only 2 were found.",
        "# error: socketStartConnect: Connect to 10.0.0.1<4000> failed",
    ):
        found = _read(text + failure + "\n")
        assert [one.text for one in found.failures] == [failure]
        assert found.incomplete == f"the program failed: {failure.strip()}"


def test_prefixes_of_ranks_keep_programs_apart() -> None:
    """Programs side by side (no MPI in the build) are kept apart by the prefixes of their ranks."""
    text = table(Run(form="2.0"))
    tagged = ["".join(f"[1,{rank}]<stdout>:{line}\n" for line in text.splitlines()) for rank in (0, 1)]
    mixed = "".join(one + "\n" for pair in zip(*(part.splitlines() for part in tagged), strict=True) for one in pair)
    found = _all(mixed)
    assert [one.complete for one in found] == [True, True]
    traced = "".join(f"[1,{rank}]<stderr>:+ ./all_reduce_perf -b 1K\n" for rank in range(3)) + tagged[0]
    assert [(one.complete, one.test_from) for one in _all(traced)][-1] == (True, "command")


def _json_of(run: Run) -> dict[str, object]:
    """Return the JSON file of a run, by `jsonOutputInit`, `writeDeviceReport` and the others of src/util.cu."""
    results = []
    for size, count in nccl_tables.sizes(run):
        halves = [nccl_tables.half(run, size, speed_up) for speed_up in (1.0, 1.04)]
        names = ("out_of_place", "in_place")
        figures = {
            name: {"time": round(t, 6), "alg_bw": round(a, 6), "bus_bw": round(b, 6), "nwrong": 0.0}
            for name, (t, a, b) in zip(names, halves, strict=True)
        }
        results.append({"size": size, "count": count, "type": "float", "redop": "sum", "root": "    -1", **figures})
    busbws = [one[name]["bus_bw"] for one in results for name in ("out_of_place", "in_place")]  # type: ignore[index]
    device = {"group": 0, "device_hex": "0000:06:00", "device_info": "Tesla V100-SXM2-16GB"}
    return {
        "version": 2,
        "start_time": "2026-11-21 20:01:02",
        "args": ["./build/all_reduce_perf", "-g", "8", "-J", "out.json"],
        "env": ["PATH=/bin", "NCCL_DEBUG=INFO"],
        "nccl_version": 22903,
        "config": {
            "nthreads": 1,
            "ngpus": 8,
            "minimum_bytes": run.low,
            "maximum_bytes": run.high,
            "step_factor": 2,
            "warmup_iters": 1,
            "iterations": 20,
            "aggregated_iterations": 1,
            "validation": 1,
            "graph": 0,
            "blocking_collectives": "false",
            "parallel_init": "false",
            "devices": [
                {"rank": 8 * one, "pid": 30, "hostname": f"worker-{one}", "device": 0, **device} for one in (0, 1)
            ],
        },
        "results": results,
        "out_of_bounds": {"count": 0, "okay": "true"},
        "average_bus_bandwidth": {"bandwidth": round(math.fsum(busbws) / len(busbws), 6), "okay": "unchecked"},
        "errors": [""],
        "end_time": "2026-11-21 20:02:02",
    }


def test_a_json_file_is_the_same_reading_as_a_table() -> None:
    """A JSON file of -J is the same reading as the table of its run."""
    run = Run()
    found = _read(json.dumps(_json_of(run), separators=(",", ":")))
    printed = _read(table(run))
    assert (found.complete, found.incomplete, found.test, found.ranks) == (True, None, "all_reduce", 16)
    assert (found.hosts, found.nccl_library, found.bus_factor) == (printed.hosts, "2.29.3", printed.bus_factor)
    assert found.environment == {"NCCL_DEBUG": "INFO"}
    assert [(row.bytes, row.count, row.type, row.redop, row.root) for row in found.rows] == [
        (row.bytes, row.count, row.type, row.redop, row.root) for row in printed.rows
    ]
    for one, other in zip(found.rows, printed.rows, strict=True):
        assert one.out_of_place.busbw_gb_s == pytest.approx(other.out_of_place.busbw_gb_s, abs=0.006)
    assert found.average_busbw_gb_s == pytest.approx(printed.average_busbw_gb_s, abs=1e-3)


def test_a_cut_json_file_is_read_as_far_as_it_is_whole() -> None:
    """A cut JSON file is read as far as it is whole."""
    whole = json.dumps(_json_of(Run()), separators=(",", ":"))
    rows = len(_read(whole).rows)
    for length in range(40, len(whole), 97):
        found = _read(whole[:length])
        assert not found.complete
        assert len(found.rows) <= rows


_FORMS = [
    table(Run(form=form, test=test, high=1 << 14)) for form in ("2.0", "2.13", "2.18") for test in ("all_reduce",)
]
_FORMS += [table(Run(spread=True, high=1 << 13)), json.dumps(_json_of(Run(high=1 << 13)), separators=(",", ":"))]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_no_damage_makes_a_row_that_is_not_there(data: st.DataObject) -> None:
    """Damage does not raise, and adds no row."""
    text = drawn_damage(data, _FORMS, ("e", "["))
    for found in _all(text):
        found.model_dump_json()
        for row in found.rows:
            line = text.split("\n")[row.line - 1]
            if line.startswith("{"):
                assert f'"size":{row.bytes},' in line.replace(" ", "")
                continue
            words = line.split()
            assert (row.bytes, row.count, row.type) == (int(words[0]), int(words[1]), words[2])
            printed = {float(word) for word in words[3:] if re.fullmatch(r"[\d.]+(e[+-]\d+)?", word)}
            assert {row.out_of_place.time_us, row.out_of_place.busbw_gb_s} <= printed
