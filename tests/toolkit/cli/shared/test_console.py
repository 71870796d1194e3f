"""What the consoles of the product do with text."""

import io
import re

import pytest

from tests.support.recorded import ROOT
from toolkit.cli.shared import console
from toolkit.cli.verify.verdict_tables import explain
from toolkit.evidence.verdict import Proof, Status, Verdict

_LINE = "node-0:100:100 [0] NCCL INFO [red]no[/] :warning: [/x]"
"""What rich takes for an emoji (100, warning) and for markup, one of it without a begin."""


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Give what is printed."""
    written = io.StringIO()
    monkeypatch.setattr(console, "console", console.new_console(file=written, width=200))
    monkeypatch.setattr("toolkit.cli.verify.verdict_tables.console", console.console)
    return written


def test_text_is_printed_as_it_is(printed: io.StringIO) -> None:
    """Lines, titles and cells have neither markup nor emoji, whatever they look like."""
    console.print_text(_LINE)
    console.print_parts(console.styled(_LINE, "red"), _LINE)
    console.show_rows(_LINE, (_LINE,), [(_LINE,)])
    proof = Proof(file=":100:.log", line=1, text=_LINE)
    explain([Verdict(criterion="c", job="j", status=Status.FAIL, measured=_LINE, limit="", source="", proofs=(proof,))])
    assert printed.getvalue().count(_LINE) == 8
    assert "  :100:.log:1: node-0" in printed.getvalue()


_RICH = re.compile(r"^\s*(?:from rich(\S*) import (.*)|import rich.*)", re.MULTILINE)


def test_no_console_is_made_elsewhere() -> None:
    """One module alone makes consoles; the others import of rich what has a place to print, and no markup."""
    found = {
        (file.relative_to(ROOT).as_posix(), line[0].strip())
        for file in ROOT.glob("[a-z]*/**/*.py")
        for line in _RICH.finditer(file.read_text())
        if (line[1], line[2]) not in ((".table", "Table"), (".text", "Text"))
    }
    assert {file for file, _ in found} == {"toolkit/cli/shared/console.py"}, found
