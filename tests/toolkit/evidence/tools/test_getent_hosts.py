"""getent hosts in a shell that traces: form of glibc's nss/getent.c, `%-15s %s`, and the loop of our RDMA test."""

from tests.support.mutated import mutations, read_text
from toolkit.evidence.tools.network import GetentHosts

_LOOP = """\
+ getent hosts mofed-test-job-listener
+ sleep 1
+ getent hosts mofed-test-job-listener
10.128.0.12     mofed-test-job-listener
+ ib_write_bw mofed-test-job-listener -d mlx5_1
"""


def test_a_loop_that_waits_is_one_reading() -> None:
    """A loop that waits for a name is one reading."""
    found, test = read_text(_LOOP)
    assert isinstance(found, GetentHosts)
    assert (found.name, found.tries, found.complete, found.unread_total) == ("mofed-test-job-listener", 2, True, 0)
    assert [(row.address, row.line) for row in found.rows] == [("10.128.0.12", 4)]
    assert test.tool == "perftest"


def test_a_name_without_an_address_is_incomplete() -> None:
    """A name without an address is incomplete."""
    found, *_ = read_text("\n".join(_LOOP.splitlines()[:3]))
    assert (found.complete, found.incomplete) == (False, "no address")


def test_other_names_and_bare_tables_are_not_taken() -> None:
    """Other names, and tables without the command, are not read."""
    found, *_ = read_text("+ getent hosts a\n10.0.0.1 b\n+ getent hosts b\nfe80::1         b b.c\n")
    assert isinstance(found, GetentHosts)
    assert (found.rows, found.unread_total) == ((), 1)
    assert not [one for one in read_text("10.0.0.1 a\n") if isinstance(one, GetentHosts)]


def test_damaged_logs() -> None:
    """Damaged logs do not raise, and add no address."""
    for raw in mutations(_LOOP, 200):
        for one in read_text(raw):
            for row in one.rows if isinstance(one, GetentHosts) else ():
                assert row.address in raw.decode(errors="replace")
