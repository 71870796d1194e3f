"""Times of lines: of kubectl, the container runtime and loggers, and of PyTorch's messages, which have no year."""

import re
from datetime import UTC, datetime, timedelta

_DATED = re.compile(rb"(\d{4})-(\d\d)-(\d\d)[T _](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?")
_GLOG = re.compile(rb"[EWIF](\d\d)(\d\d) (\d\d:\d\d:\d\d)\.(\d{1,9})")
_FARTHEST = 4096
"""Bytes of a line in which its time is searched: a record of a log store may have it behind the text."""
_WHOLE = 19
"""Bytes of date and time up to the seconds."""


class Clock:
    """Reads the times of the lines of one log; without a zone they are taken for UTC."""

    def __init__(self) -> None:
        self._year = datetime.now(UTC).year
        """Of lines that have none: that of the last line with one; without any they are compared with each other."""
        self._second, self._base = b"", 0.0
        """The last second, which most lines share: reading the date again would take three times as long."""

    def place(self, raw: bytes) -> slice | None:
        """Return where a line has its time; None: it has none."""
        match = _DATED.search(raw, 0, _FARTHEST) or _GLOG.search(raw, 0, _FARTHEST)
        return slice(*match.span()) if match is not None else None

    def read(self, text: bytes) -> float | None:
        """Return a time that `place` found, as seconds since 1970; None where there is no such time."""
        if text[:_WHOLE] == self._second:
            digits = text[_WHOLE + 1 : -1] if text.endswith(b"Z") else text[_WHOLE + 1 :]
            if digits.isdigit():
                return float(self._base + int(digits) / 10 ** len(digits))
        if (match := _DATED.fullmatch(text)) is not None:
            year, month, day, clock, fraction, zone = match.groups()
            self._year = int(year)
        elif (match := _GLOG.fullmatch(text)) is not None:
            month, day, clock, fraction = match.groups()
            year, zone = str(self._year).encode(), None
        else:
            return None
        try:
            moment = datetime.fromisoformat(f"{b'-'.join((year, month, day)).decode()}T{clock.decode()}")
        except ValueError:
            return None
        base = moment.replace(tzinfo=UTC).timestamp() - _offset(zone).total_seconds()
        if zone in (None, b"Z") and match.re is _DATED:
            self._second, self._base = text[:_WHOLE], base
        part: float = int(fraction) / 10 ** len(fraction) if fraction else 0.0
        return base + part


def _offset(zone: bytes | None) -> timedelta:
    if not zone or zone == b"Z":
        return timedelta()
    offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
    return -offset if zone.startswith(b"-") else offset
