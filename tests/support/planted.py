"""Values that are planted where secrets belong, and the search for them in everything that was printed or written."""

import base64
import gzip
import re
import secrets
import string
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_ALPHABET = string.ascii_letters + string.digits
_MARK, _OWN = 18, 14  # characters of a value that all share, and that only it has
_DEPTH = 3  # levels of packing that are undone
_PAUSE = 0.1  # seconds between two looks at the processes


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


MARK = _random(_MARK)
"""What all planted values of this run share: whoever finds it has found one of them."""


def value(before: str = "", after: str = "") -> str:
    """Return a value of its own; `before` and `after` stand around it, for what escapes and quotes have to change."""
    return f"{before}{MARK}{_random(_OWN)}{after}"


def _base64(text: bytes) -> Iterator[bytes]:
    """Yield what is in every base64 text of something that holds `text`: one for each place of its first byte."""
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + text)
        yield encoded[(shift * 8 + 5) // 6 : (shift + len(text)) * 8 // 6]


def forms(text: str) -> dict[bytes, str]:
    """Return how `text`, letters and digits alone, may be written: URL-quoted and JSON-escaped it is as it is."""
    plain = text.encode()
    once = list(_base64(plain))
    return {
        plain: "plain",
        plain[::-1]: "reversed",
        text.encode("utf-16-le"): "UTF-16",
        "".join(f"%{byte:02x}" for byte in plain).encode(): "URL-quoted",
        "".join(f"%{byte:02X}" for byte in plain).encode(): "URL-quoted",
        "".join(f"\\u{byte:04x}" for byte in plain).encode(): "JSON-escaped",
        plain.hex().encode(): "hex",
        plain.hex().upper().encode(): "hex",
        **dict.fromkeys(once, "base64"),
        **{encoded_twice: "base64 of base64" for encoded in once for encoded_twice in _base64(encoded)},
    }


@dataclass(frozen=True)
class Found:
    """One place where a value is: what was searched, how it is written there, and what is around it."""

    place: str
    form: str
    around: str

    def __str__(self) -> str:
        return f"{self.place}: {self.form}: {self.around}"


@dataclass
class Search:
    """The search for all values that share the mark, and for others by name."""

    others: Mapping[str, str] = field(default_factory=dict)

    def _wanted(self) -> Iterator[tuple[bytes, str]]:
        yield from forms(MARK).items()
        for name, text in self.others.items():
            for pattern, form in forms(text).items():
                yield pattern, f"{name}, {form}"

    def content(self, place: str, content: bytes) -> Iterator[Found]:
        """Yield what is found in some bytes, and in what is packed in them."""
        patterns = list(self._wanted())
        for layer in _layers(content):
            for pattern, form in patterns:
                at = layer.find(pattern)
                if at >= 0:
                    around = layer[max(0, at - 120) : at + len(pattern) + 40]
                    yield Found(place, form, around.decode(errors="replace"))

    def files(self, folder: Path, left_out: Iterable[str] = ()) -> Iterator[Found]:
        """Yield what is found in the names and contents of all files below a folder, hidden ones, too.

        `left_out` are regular expressions of paths within the folder.
        """
        skipped = [re.compile(pattern) for pattern in left_out]
        for path in sorted(folder.rglob("*")):
            place = str(path.relative_to(folder))
            if any(pattern.fullmatch(place) for pattern in skipped):
                continue
            yield from self.content(f"name of {place}", place.encode())
            if path.is_symlink():
                yield from self.content(f"target of {place}", str(path.readlink()).encode())
            elif path.is_file():
                yield from self.content(place, path.read_bytes())


def _layers(content: bytes, depth: int = _DEPTH) -> Iterator[bytes]:
    """Yield bytes, and what gzip has packed in them; of a file that was cut off, what can be had."""
    yield content
    if depth and content[:2] == b"\x1f\x8b":
        unpacked = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        try:
            inside = gzip.decompress(content)
        except (EOFError, OSError, zlib.error):
            inside = unpacked.decompress(content)
        yield from _layers(inside, depth - 1)


@contextmanager
def command_lines() -> Iterator[set[bytes]]:
    """Look at the command lines of all processes while it lasts; give the set that they are put into."""
    seen: set[bytes] = set()
    over = threading.Event()

    def look() -> None:
        while not over.wait(_PAUSE):
            for entry in Path("/proc").iterdir():
                if entry.name.isdigit():
                    try:
                        seen.add((entry / "cmdline").read_bytes())
                    except OSError:  # it has ended
                        continue

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield seen
    finally:
        over.set()
        looking.join()
