"""Lines that are passed over by their shape, against the same lines read one by one."""

import io
import random
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from core.metric import Metric
from tests.support.mutated import mutations
from tests.support.rounds import ROUNDS
from toolkit.evidence import line_owners, metrics, reader, tool_run
from toolkit.evidence.line_owners import LineOwners
from toolkit.evidence.line_shapes import of_shapes, shape_of, treats_digits_alike, without_times
from toolkit.evidence.model import Reading
from toolkit.evidence.parser import Parser
from toolkit.evidence.reader import read_stream
from toolkit.evidence.tools import PARSERS, deeplearningexamples, tf_cnn_benchmarks

LOGS = sorted(path for path in (Path(__file__).parent / "logs").rglob("*") if path.is_file())
METRICS = (
    Metric(name="throughput", pattern=r"throughput: ([\d.,]+) samples/s", value="median", warm_up=2),
    Metric(name="loss", pattern=r"loss:? ?(\S+)", better="lower"),
    Metric(name="step", pattern=r"step (1\d*)", value="best"),
)


@pytest.fixture(autouse=True)
def short_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep few lines, so that short logs have lines to pass over."""
    monkeypatch.setattr(reader, "UNREAD_KEPT", 4)
    monkeypatch.setattr(tool_run, "UNREAD_KEPT", 4)
    monkeypatch.setattr(tf_cnn_benchmarks, "STEPS_KEPT", 6)
    monkeypatch.setattr(deeplearningexamples, "ROWS_KEPT", 6)
    monkeypatch.setattr(line_owners, "_EVERY", 3)


def _training(chance: random.Random) -> Iterator[str]:
    """Yield lines of trainings, as their ranks and loggers print them."""
    step = 0
    while True:
        step += chance.choice((1, 1, 10, -5, 100))
        loss, rank = chance.random() * 10, chance.randrange(20)
        kinds = (
            f"[1,{rank}]<stdout>:{step}\timages/sec: {700 + loss:.1f} +/- 0.9 (jitter = 2.2)\t{loss:.3f}",
            f"DLL 2020-01-01 10:00:{step % 60:02d}.{step % 1000:06d} - (0, {step}) train.total_ips : {loss:.2f} img/s",
            f"[rank{rank}]: step {step} loss {loss:.4f} throughput: {4000 + loss:,.1f} samples/s",
            f"[default{rank}]:[W1121 20:00:{step % 60:02d}.000000 socket.cpp:{step}] [c10d] a warning",
            f"Epoch: [{step}]\tLoss {loss:.4e}",
            "",
            f"2026-11-21 20:00:{step % 60:02d},{step % 1000:03d} INFO lr {loss:.2e}",
        )
        yield from chance.sample(kinds, 2)


def _mixed(log: bytes, seed: int) -> bytes:
    """Return a log between lines of trainings, twice, with other digits in some lines, and some behind times."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    training = (line.encode() for line in _training(chance))
    out = list(islice(training, 60))
    for _ in range(2):
        for line in log.split(b"\n"):
            out.append(_other_digits(line, chance) if chance.random() < 0.3 else line)
            if chance.random() < 0.5:
                out.append(chance.choice(out))
        out += islice(training, 60)
    if seed % 2:
        out = [b"2026-11-21T20:00:00.%09dZ %s" % (chance.randrange(10**9), line) for line in out]
    return b"\n".join(out)


def _other_digits(line: bytes, chance: random.Random) -> bytes:
    return re.sub(rb"[0-9]+", lambda found: bytes(chance.choices(b"0123456789", k=len(found[0]))), line)


@cache
def _lines() -> tuple[str, ...]:
    """Return the lines of all logs, as they are and with other digits."""
    chance = random.Random(1)  # noqa: S311 - no secret
    lines = sorted({line for path in LOGS for line in path.read_bytes().split(b"\n")})
    return tuple(form.decode("utf-8", "replace") for line in lines for form in (line, _other_digits(line, chance)))


def _read(log: bytes) -> tuple[Reading, ...]:
    return (*read_stream(io.BytesIO(log), "log"), metrics.read_stream(io.BytesIO(log), "log", METRICS))


def _read_plainly(log: bytes) -> tuple[Reading, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LineOwners, "owned_shapes", lambda *_: None)
        patch.setattr(metrics, "_SECOND", 0)
        patch.setattr(reader, "without_times", lambda lines: lines)
        return _read(log)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_lines_that_are_passed_over_change_no_reading(path: Path) -> None:
    """Every log, whole and damaged, between trainings of all kinds, gives the readings of its lines one by one."""
    log = path.read_bytes()[:20_000]
    forms = (*[log] * ROUNDS, *mutations(log.decode("utf-8", "replace"), 1))
    # Seeds of one log differ from those of the next, and every second of them has times.
    for seed, form in enumerate(forms, LOGS.index(path)):
        mixed = _mixed(form, seed)
        assert _read(mixed) == _read_plainly(mixed), seed


@pytest.mark.parametrize("kind", ["images/sec", "train.total_ips", "throughput", "Epoch"])
def test_few_lines_of_a_training_are_read_one_by_one(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long training most lines are passed over, and are counted."""
    numbers: list[int] = []
    line = reader._Log._line

    def noted(log: reader._Log, number: int, raw: bytes) -> None:
        numbers.append(number)
        line(log, number, raw)

    monkeypatch.setattr(reader._Log, "_line", noted)
    wanted = (one for one in _training(random.Random(1)) if kind in one)  # noqa: S311 - no secret
    log = "\n".join(("Done warm up", *islice(wanted, 4000)) if kind == "images/sec" else islice(wanted, 4000))
    (found,) = read_stream(io.BytesIO(log.encode()), "log")
    assert len(numbers) < 1500
    assert found.last_line == log.count("\n") + 1


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.tool)
def test_the_first_lines_of_a_tool_are_known_by_their_shape(parser: type[Parser]) -> None:
    """The expression for shapes matches the shape of every line that the parser's own matches."""
    starts, shapes = re.compile(parser.starts), re.compile(of_shapes(parser.starts))
    for line in filter(starts.match, _lines()):
        assert shapes.match(shape_of(line.encode()).decode()), line


@pytest.mark.parametrize("pattern", [r"[^3-5]x", r"(a)\1", r"a(?! (?:b|1))", r"a(?<!x[3-5])b"])
def test_an_expression_whose_shapes_are_not_known_is_refused(pattern: str) -> None:
    """A class of all but some digits, a back-reference, and digits that are refused fail at import, with the part."""
    with pytest.raises(ValueError, match=r"whose shape is not known"):
        of_shapes(pattern)


@pytest.mark.parametrize(
    ("pattern", "alike"),
    [
        (r"loss: ([\d.,]+)", True),
        (r"rate ([0-9.]{1,12})", True),
        (r"step (1\d*)", False),
        (r"rank ([0-3]) ", False),
        (r"GPU0: (\d+)", False),
        (r"\x{35}(\d)", False),
    ],
)
def test_an_expression_that_tells_digits_apart_is_known(pattern: str, alike: bool) -> None:
    """Only an expression that takes any digit where it takes one finds the same in lines of one shape."""
    assert treats_digits_alike(pattern) is alike


def test_times_are_removed_where_all_lines_have_one() -> None:
    """A block whose lines differ in the form of their times is left as it is."""
    time = b"2026-11-21T20:00:00.123456789Z "
    assert without_times([time + b"a", time.replace(b"6789", b"1234") + b"b 1"]) == [b"a", b"b 1"]
    for other in (b"b", b"2026-11-21T20:00:00.1234Z b"):
        assert without_times([time + b"a", other]) == [time + b"a", other]


@pytest.mark.parametrize(
    ("others", "first", "tool"),
    [("2234567891", "1000660000", "whoami"), ("333 pods ab", "300 pods  pp", "semodule")],
)
def test_a_first_line_that_differs_in_digits_from_lines_of_no_tool_is_found(others: str, first: str, tool: str) -> None:
    """A tool's first line is recognized after lines of its shape that are not tool's."""
    found = read_stream(io.BytesIO("\n".join((*[others] * 50, first)).encode()), "log")
    assert found[-1].tool == tool
