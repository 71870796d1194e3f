"""The limit of locked memory, as bash, dash, busybox and /proc print it."""

import pytest

from tests.support.mutated import only, read_text
from toolkit.evidence.tools.process import Ulimit

_PROC = """\
Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max processes             1030545              1030545              processes
Max locked memory         65536                65536                bytes
Max address space         unlimited            unlimited            bytes
"""
_BASH = """\
real-time non-blocking time  (microseconds, -R) unlimited
core file size              (blocks, -c) unlimited
data seg size               (kbytes, -d) unlimited
max locked memory           (kbytes, -l) {limit}
max memory size             (kbytes, -m) unlimited
POSIX message queues         (bytes, -q) 819200
"""


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("unlimited\n", None),
        ("+ ulimit -l\n64\n", 65536),
        ("$ ulimit -l\nunlimited\n", None),
        (_PROC, 65536),
        (_PROC.replace("65536", "unlimited"), None),
        (_BASH.format(limit="8192"), 8 << 20),
        (_BASH.format(limit="unlimited"), None),
        ("locked memory(kbytes) 64\n", 65536),
        ("-l: locked-in-memory size (kb)         64\n", 65536),
        ("max locked memory       (kbytes, -l) 64\n", 65536),
        ("Max locked memory         65536                65536                bytes\n", 65536),
    ],
)
def test_every_form_gives_bytes(text: str, limit: int | None) -> None:
    """Every form gives bytes."""
    found = only(Ulimit, text)
    assert (found.memlock_bytes, found.unlimited, found.complete) == (limit, limit is None, True)
    assert found.unread == ()


def test_a_limit_that_is_not_there_is_not_known() -> None:
    """A limit that is absent is unknown."""
    for text in (_PROC.partition("Max locked")[0], _BASH.partition("max locked")[0], "# ulimit -l\n"):
        found = only(Ulimit, text)
        assert (found.unlimited, found.memlock_bytes, found.complete) == (None, None, False)


def test_a_figure_alone_is_no_limit() -> None:
    """A figure alone is not a limit without the command."""
    assert not [one for one in read_text("64\n") if isinstance(one, Ulimit)]
