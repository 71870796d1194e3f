"""Passwords, hashes and keys of devices are neither stored nor shown."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.mutated import read_text
from toolkit.cli.app import app
from toolkit.evidence.secrets import MASK, masked

HASH = "bm90YXJlYWxoYXNo"
LINES = (
    f"username admin password 7 $6$generated${HASH}",
    f"snmp-server user admin v3 encrypted auth md5 {HASH} priv aes-128 {HASH}",
    f" password hash $h$6$generated${HASH}",
    f"            hashed-password: $6$generated${HASH}",
    f"admin:$6$generated${HASH}:18000:0:99999:7:::",
)


@pytest.mark.parametrize("line", LINES)
def test_a_secret_is_shown_nowhere(line: str, tmp_path: Path) -> None:
    """Also a file that is nothing but a secret is read, judged and compared without it."""
    log = tmp_path / "log"
    log.write_text(f"{line}\n")
    for command in (
        ["verify", "--all", "-f"],
        ["verify", "--figures"],
        ["verify", "--figures", "--json"],
        ["site", "diff", "-f"],
    ):
        assert HASH not in CliRunner().invoke(app, [*command, str(log)]).output
    assert HASH not in str([one.model_dump() for one in read_text(f"some program\n{line}\n")])


@pytest.mark.parametrize(
    "line",
    [
        "NCCL WARN hash of the topology differs: key 7",
        "ntp server 192.0.2.1",
        "cost is $5 of $6 in total",
        "ssh: connect to host worker-0 port 22: Connection refused",
    ],
)
def test_other_lines_are_as_they_were(line: str) -> None:
    """Words that mean other things in logs of jobs hide nothing."""
    assert masked(line) == line
    assert masked(LINES[0]) == MASK
