"""Logs as they come from the field: cut, mixed, with bytes lost. And what must hold of everything read from them."""

import io
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hypothesis.strategies import DataObject, booleans, integers, sampled_from

from tests.support.rounds import ROUNDS
from toolkit.evidence.model import Reading
from toolkit.evidence.reader import read, read_stream
from toolkit.evidence.text import clean, raw_lines

Kind = TypeVar("Kind", bound=Reading)

_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?")


def read_text(text: str | bytes) -> tuple[Reading, ...]:
    """Return the readings of a log that is given as text."""
    return read_stream(io.BytesIO(text.encode() if isinstance(text, str) else text), "log")


def only(kind: type[Kind], log: str | Path) -> Kind:
    """Return the one reading of a log, a text or a file, which is of this kind."""
    (reading,) = read(log) if isinstance(log, Path) else read_text(log)
    assert isinstance(reading, kind)
    return reading


def mutations(text: str, count: int, seed: int = 1) -> Iterator[bytes]:
    """Yield damaged forms of a log; the same ones for the same seed, and HPC_ROUNDS times as many where it is set."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    whole = text.encode()
    for _ in range(count * ROUNDS):
        raw = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            at, to = sorted(chance.randrange(len(raw) + 1) for _ in range(2))
            match chance.randrange(6):
                case 0:
                    del raw[at:]
                case 1:
                    del raw[at : min(to, at + 30)]
                case 2:
                    raw[at:at] = bytes(
                        chance.choice(b"0123456789.,:;-+eE(){}[]\"' \n\r\t\x00\xff\x1b") for _ in range(3)
                    )
                case 3:
                    raw[at:at] = raw[to : to + chance.randrange(1, 80)]
                case 4:
                    lines = bytes(raw).splitlines(keepends=True)
                    chance.shuffle(lines)
                    raw = bytearray(b"".join(lines))
                case _:
                    raw[at:at] = f"\n[1,{chance.randrange(9)}]<stdout>:".encode()
            if not raw:
                break
        yield bytes(raw)


def drawn_damage(data: DataObject, forms: Sequence[str], marks: tuple[str, str]) -> str:
    """Draw one of several logs with pieces lost, doubled or put in; `marks` are two that the tool's figures know."""
    text: str = data.draw(sampled_from(forms))
    for _ in range(data.draw(integers(1, 4))):
        start = data.draw(integers(0, len(text)))
        length = data.draw(integers(0, 40))
        other = data.draw(integers(0, len(text)))
        pieces = ["", "\n", " ", "9" * 25, marks[0], "-", text[other : other + 60], "?", marks[1]]
        text = text[:start] + data.draw(sampled_from(pieces)) + text[start + length :]
    return text[: data.draw(integers(0, len(text)))] if data.draw(booleans()) else text


def invented(raw: bytes, readings: tuple[Reading, ...]) -> list[str]:
    """Return the rows of readings that hold a figure which is not in the line that they name."""
    texts = [clean(number, line).text for number, line in enumerate(raw_lines(io.BytesIO(raw)), 1)]
    return [
        f"{row}: not in line {row['line']}: {texts[row['line'] - 1]!r}"
        for reading in readings
        for row in _rows(reading.model_dump())
        if not _figures({**row, "line": 0, "step": 0}) <= _printed(texts[row["line"] - 1])
    ]


def _rows(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if isinstance(value.get("line"), int):
            yield value
        for inner in value.values():
            yield from _rows(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _rows(inner)


def _figures(value: Any) -> set[float]:
    if isinstance(value, dict):
        return {figure for inner in value.values() for figure in _figures(inner)}
    return {abs(float(value))} if isinstance(value, int | float) and value else set()


def _printed(text: str) -> set[float]:
    return {float(number.replace(",", ".")) for number in _NUMBER.findall(text)}
