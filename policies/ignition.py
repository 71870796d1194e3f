"""What a MachineConfig puts on its nodes. The contents are other people's: decoding is bounded and never raises."""

import base64
import binascii
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from policies.objects import Obj
from policies.values import Path

_FILES: Path = ("spec", "config", "storage", "files")
_UNITS: Path = ("spec", "config", "systemd", "units")
_LONGEST = 1 << 16


@dataclass(frozen=True)
class Text:
    """A file or unit: its name, its text, and the field that has it."""

    name: str
    text: str
    place: Path


def texts(machine_config: Obj) -> Iterator[Text]:
    """Yield the files and systemd units of a MachineConfig, each as far as its first 64 KiB go."""
    for index, file in enumerate(machine_config.entries(*_FILES)):
        contents = file.get("contents") if isinstance(file, Mapping) else None
        source = contents.get("source") if isinstance(contents, Mapping) else None
        if isinstance(source, str) and isinstance(contents, Mapping):
            text = _decode(source, str(contents.get("compression") or ""))
            yield Text(str(file.get("path")), text, (*_FILES, index, "contents", "source"))
    for index, unit in enumerate(machine_config.entries(*_UNITS)):
        if not isinstance(unit, Mapping):
            continue
        if isinstance(unit.get("contents"), str):
            yield Text(str(unit.get("name")), unit["contents"][:_LONGEST], (*_UNITS, index, "contents"))
        dropins = unit.get("dropins")
        for number, dropin in enumerate(dropins if isinstance(dropins, list) else ()):
            if isinstance(dropin, Mapping) and isinstance(dropin.get("contents"), str):
                place = (*_UNITS, index, "dropins", number, "contents")
                yield Text(str(dropin.get("name")), dropin["contents"][:_LONGEST], place)


def _decode(source: str, compression: str) -> str:
    head, comma, body = source[: 4 * _LONGEST].partition(",")
    if not head.startswith("data:") or not comma:
        return ""
    try:
        raw = base64.b64decode(unquote(body)) if head.endswith(";base64") else unquote(body).encode()
        if compression == "gzip":
            raw = zlib.decompressobj(wbits=31).decompress(raw, _LONGEST)
    except (binascii.Error, ValueError, zlib.error):
        return ""
    return raw[:_LONGEST].decode(errors="replace")
