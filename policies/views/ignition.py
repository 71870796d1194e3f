"""What a MachineConfig puts on its nodes. The contents are other people's: decoding is bounded and never raises."""

import base64
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote, unquote_to_bytes

from policies.objects import Obj
from policies.values import Path, Tree, read

_FILES: Path = ("spec", "config", "storage", "files")
_UNITS: Path = ("spec", "config", "systemd", "units")
_LONGEST = 1 << 16


@dataclass(frozen=True)
class Text:
    """A file, a unit or a drop-in of the unit `unit`: its name, its text, and the field that has it."""

    name: str
    text: str
    place: Path
    unit: str = ""


def texts(machine_config: Obj) -> Iterator[Text]:
    """Yield the files, systemd units and drop-ins of a MachineConfig, each as far as its first 64 KiB go."""
    for index, file in enumerate(machine_config.entries(*_FILES)):
        contents = read(file, "contents")
        source = read(contents, "source")
        if isinstance(source, str):
            text = decode(source, gzipped=read(contents, "compression") == "gzip")
            yield Text(_text(file, "path"), text, (*_FILES, index, "contents", "source"))
    for index, unit in enumerate(machine_config.entries(*_UNITS)):
        name, place = _text(unit, "name"), (*_UNITS, index)
        yield Text(name, _text(unit, "contents")[:_LONGEST], (*place, "contents"), unit=name)
        dropins = read(unit, "dropins")
        for number, dropin in enumerate(dropins if isinstance(dropins, list) else ()):
            text = _text(dropin, "contents")[:_LONGEST]
            yield Text(_text(dropin, "name"), text, (*place, "dropins", number, "contents"), unit=name)


def _text(tree: Tree, key: str) -> str:
    value = read(tree, key)
    return value if isinstance(value, str) else ""


def decode(source: str, *, gzipped: bool = False) -> str:
    """Return the text of a data URL, at most 64 KiB of it; empty when it is none or cannot be read."""
    head, comma, body = source[: 4 * _LONGEST].partition(",")
    if not head.startswith("data:") or not comma:
        return ""
    try:
        raw = base64.b64decode(unquote(body)) if head.endswith(";base64") else unquote_to_bytes(body)
        if gzipped:
            raw = zlib.decompressobj(wbits=31).decompress(raw, _LONGEST)
    except (ValueError, zlib.error):  # binascii's error is a ValueError
        return ""
    return raw[:_LONGEST].decode(errors="replace")
