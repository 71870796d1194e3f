"""Lines without what stands before and in them."""

import gzip
import io
import tracemalloc
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from toolkit.evidence import text
from toolkit.evidence.model import Unknown
from toolkit.evidence.reader import read, read_stream
from toolkit.evidence.text import LONGEST, Line, Text, clean, raw_lines


@pytest.mark.parametrize(
    ("raw", "line", "source"),
    [
        (b"[1,0]<stdout>:#1", "#1", "1,0"),
        (b"[1,12]<stderr>: x", "x", "1,12"),
        (b"[3]<stdout>:x", "x", "3"),
        (b"Sat Nov 21 20:01:02 2026[1,3]<stdout>:x", "x", "1,3"),
        (b"Sat Nov  1 20:01:02 2026[1,3]<stdout>:x", "x", "1,3"),
        (b"2026-11-21T20:01:02.123456789Z [1,3]<stdout>:x", "x", "1,3"),
        (b"2026-11-21T20:01:02.123456789Z stdout F x", "x", ""),
        (b"2026-11-21T20:01:02+01:00 x", "x", ""),
        (b"[pod/job-launcher-x/main] x  ", "x", "job-launcher-x"),
        (b"[pod/job-launcher-x/main] 2026-11-21T20:01:02Z [1,7]<stdout>:x", "x", "1,7"),
        (b"\x1b[31mred\x1b[0m", "red", ""),
        (b"\x1b[1;1H\x1b[2K\x1b]0;title\x07x", "x", ""),
        (b"10 %\r100 %", "100 %", ""),
        (b"dos\r", "dos", ""),
        (b"\0\0\0after copytruncate", "after copytruncate", ""),
        (b"caf\xc3\xa9 \xff", "caf\u00e9 \ufffd", ""),
        (b"Sat Nov 21 20:01:02 2026", "Sat Nov 21 20:01:02 2026", ""),
        (b"[0] not a rank", "[0] not a rank", ""),
        (b'{"log":"x \\u003c0\\u003e\\n","stream":"stdout","time":"2025-05-16T16:39:51.1Z"}', "x <0>", ""),
        (b'{"log":"[1,3]\\u003cstdout\\u003e:x\\n","stream":"stdout"}', "x", "1,3"),
        (b'{"log":"cut', '{"log":"cut', ""),
        (b"   8   2  float", "   8   2  float", ""),
        (b"", "", ""),
    ],
)
def test_prefixes_and_terminals_are_taken_off(raw: bytes, line: str, source: str) -> None:
    """Prefixes and terminal codes are removed, and the first columns are whole."""
    assert clean(7, raw) == Line(7, line, source)


NCCL = "host-1:30:45 [5] NCCL INFO Using network IB"


@pytest.mark.parametrize(
    "prefix",
    [
        "0: ",
        " 0: ",
        "012: ",
        "[prterun-host-123@1,0]<stdout>: ",
        "[0] ",
        "[155] ",
        "[default0]:",
        "[rank0]: ",
        "(RayWorkerWrapper pid=1234, ip=10.0.0.1) ",
        "(RayTrainWorker pid=1234) ",
        "worker-1: ",
        "dgx01.example.com: ",
        "worker-1  | ",
        "nccl-launcher-abcde mpi ",
        "I0516 16:39:51.208000   1 x.go:12] ",
        "2025-05-16 16:39:51,123 INFO ",
        "2025-05-16 16:39:51,123 - root - INFO - ",
        "2025/05/16 16:39:51 ",
        "INFO:root:",
        "2019-07-16 03:43:24,132 process          L0458 DEBUG| [stdout] ",
        "Nov 21 23:51:01 dgx01 mpirun[123]: ",
        "Nov  1 23:51:01 dgx01 slurmd: ",
        "  | 2025-05-16T16:39:51.208-07:00 | ",
        "[2026-04-28 14:14:48] ",
        "    ",
        "\t",
        "> ",
        ">     ",
        "        [1,0]<stdout>:",
        "2026-11-21T20:01:02Z  0: ",
    ],
)
def test_what_stands_before_a_line_of_nccl_is_taken_off(prefix: str) -> None:
    """What a launcher, a logger or a web page puts before a line of NCCL is removed."""
    (found,) = read_stream(io.BytesIO(f"{prefix}{NCCL}\n".encode() * 3), "log")
    assert found.unread == ()
    assert found.nccl is not None
    assert found.nccl.proofs["Using network"].text.endswith(NCCL)


@pytest.mark.parametrize(
    "before",
    [
        "host-1:30:46 [6] NCCL INFO Channel 00/0 : 6[6] -> 15[7] [receive] via NET/IB/0/GDRDMA",
        "host-1:30:46 [6] NCCL INFO Channel 00/0 : 6[6] -> 15[7] [receive] via NET/IB/0/GDRDMA ",
        "host-1:30:46 [6] NCCL INFO Channel 0",
        "0/0 : 6[6] -> 15[7] [receive] via NET/IB/0 ",
        "host-1:30:46 [6] ",
    ],
)
def test_a_piece_of_another_line_is_no_prefix(before: str) -> None:
    """A piece of another message before one of NCCL is not a prefix."""
    line = f"{before}host-1:30:45 [5] NCCL INFO Channel 01/0 : 3[3] -> 11[2] [send] via NET/Socket/0"
    (found,) = read_stream(io.BytesIO(f"{line}\n".encode()), "log")
    assert [one.line for one in found.unread] == [1]
    assert found.nccl is None


def test_lines_are_the_same_whatever_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are the same, whatever the blocks."""
    data = b"".join(b"line %d %s\n" % (number, b"x" * (number % 13)) for number in range(200)) + b"without end"
    for size in (1, 2, 7, 64, 1000, 1 << 20):
        monkeypatch.setattr(text, "BLOCK", size)
        assert list(raw_lines(io.BytesIO(data))) == data.split(b"\n")
    assert list(raw_lines(io.BytesIO(data + b"\n\n"))) == [*data.split(b"\n"), b""]


class _Endless(io.RawIOBase):
    """A file with one very long line, made as it is read."""

    def __init__(self, size: int, fill: bytes) -> None:
        self._left, self._fill, self._tail = size, fill, b"\nafter\n"

    def read(self, size: int = -1) -> bytes:
        if self._left > 0:
            self._left -= size
            return self._fill * (size // len(self._fill))
        tail, self._tail = self._tail, b""
        return tail


@pytest.mark.parametrize("fill", [b"x", b"\0"])
def test_a_line_without_end_takes_no_memory(fill: bytes) -> None:
    """A file of one line takes bounded memory, and the line is not read."""
    file = cast("BinaryIO", _Endless(200 << 20, fill))
    tracemalloc.start()
    (found,) = read_stream(file, "log", ())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20
    assert [one.line for one in found.unread] == [1, 2]
    assert len(found.unread[0].text) < LONGEST


def test_a_progress_bar_without_line_ends_is_its_last_state() -> None:
    """Of a progress bar without line ends the last state is read."""
    bar = b"".join(b"\r%7d of 300000 done" % number for number in range(300_001))
    (found,) = read_stream(io.BytesIO(bar + b"\nend\n"), "log", ())
    assert [one.text.strip() for one in found.unread] == ["300000 of 300000 done", "end"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32-be"])
def test_other_encodings_are_refused_by_name(encoding: str) -> None:
    """UTF-16 and UTF-32 are refused by name."""
    mark = b"" if encoding == "utf-16" else "\ufeff".encode(encoding)
    (found,) = read_stream(io.BytesIO(mark + "host:1:2 [0] NCCL INFO x\n".encode(encoding)), "log", ())
    assert (type(found), found.complete) == (Unknown, False)
    assert encoding[:6].upper() in (found.incomplete or "")


def test_the_mark_of_utf_8_is_no_text() -> None:
    """The byte order mark of UTF-8 is removed."""
    assert list(raw_lines(io.BytesIO(b"\xef\xbb\xbf# nThread\r\n"))) == [b"# nThread\r"]


def test_an_empty_file_and_a_binary_one_are_reported_as_that() -> None:
    """An empty file and a binary one are reported as such."""
    (found,) = read_stream(io.BytesIO(b""), "log", ())
    assert found.incomplete == "the file is empty"
    (found,) = read_stream(io.BytesIO(bytes(range(256)) * 5000), "log", ())
    assert (found.tool, found.complete) == ("unknown", False)


def test_gzip_is_read_and_a_cut_one_keeps_what_was_read(tmp_path: Path) -> None:
    """Of an archive that is cut, what could be read is read, and the fault reported."""
    lines = b"".join(
        b"host-%d:1:2 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n" % one for one in range(5_000)
    )
    path = tmp_path / "log.gz"
    packed = gzip.compress(lines)
    path.write_bytes(packed)
    (whole,) = read(path)
    assert (whole.complete, whole.last_line) == (True, 5_000)
    for damaged in (packed[: len(packed) // 2], packed[:-4], packed[:5000] + b"\0\xff\0" + packed[5003:]):
        path.write_bytes(damaged)
        (cut,) = read(path)
        assert not cut.complete
        assert "compressed file is damaged or cut" in (cut.incomplete or "")
        assert cut.nccl is not None


def test_of_a_small_archive_that_is_cut_the_text_is_kept(tmp_path: Path) -> None:
    """Of an archive smaller than a block that is cut, the text is read."""
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(b"host-1:1:2 [0] NCCL INFO Using network IB\n" * 3)[:-6])
    (cut,) = read(path)
    assert cut.nccl is not None
    assert "compressed file is damaged or cut" in (cut.incomplete or "")


def test_a_fault_is_known_when_the_lines_are() -> None:
    """A fault is known when the lines are read, and each file has its own."""
    lines = Text(io.BytesIO(b"a\nb\n"))
    assert [line for block in lines.blocks() for line in block] == [b"a", b"b"]
    assert (lines.fault, lines.empty) == (None, False)
