"""What a MachineConfig puts on its nodes. The contents are other people's: decoding is bounded and never raises."""

import base64
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote, unquote_to_bytes

from policies.manifests.objects import Obj
from policies.manifests.values import Path, Tree, read

_FILES: Path = ("spec", "config", "storage", "files")
_UNITS: Path = ("spec", "config", "systemd", "units")
_LONGEST = 1 << 16


@dataclass(frozen=True)
class Text:
    """A file, a unit or a drop-in of the unit `unit`: its name, its text, and the field that has it.

    `whole` is False where the text is somewhere else, cannot be read, or is longer than what is read of it.
    """

    name: str
    text: str
    place: Path
    unit: str = ""
    whole: bool = True


def texts(machine_config: Obj) -> Iterator[Text]:
    """Yield the files, systemd units and drop-ins of a MachineConfig, each as far as its first 64 KiB go."""
    for index, file in enumerate(machine_config.entries(*_FILES)):
        more = read(file, "append")
        places: list[Path] = [("contents",)]
        places += [("append", number) for number in range(len(more))] if isinstance(more, list) else []
        for place in places:
            contents = read(file, *place)
            source = read(contents, "source")
            if isinstance(source, str):
                text = decode(source, gzipped=read(contents, "compression") == "gzip")
                whole = len(text) < _LONGEST if text else source.startswith("data:") and source.endswith(",")
                yield Text(_text(file, "path"), text, (*_FILES, index, *place, "source"), whole=whole)
    for index, unit in enumerate(machine_config.entries(*_UNITS)):
        name, place = _text(unit, "name"), (*_UNITS, index)
        yield _of_unit(name, _text(unit, "contents"), (*place, "contents"), name)
        dropins = read(unit, "dropins")
        for number, dropin in enumerate(dropins if isinstance(dropins, list) else ()):
            text = _text(dropin, "contents")
            yield _of_unit(_text(dropin, "name"), text, (*place, "dropins", number, "contents"), name)


def _of_unit(name: str, text: str, place: Path, unit: str) -> Text:
    return Text(name, text[:_LONGEST], place, unit, whole=len(text) <= _LONGEST)


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
