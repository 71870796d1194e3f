"""Tools are found by themselves, and one that lacks a part is refused at import, with the file and the part."""

from types import ModuleType

import pytest

from toolkit.evidence.criterion import Criterion
from toolkit.evidence.host_parser import HostReading
from toolkit.evidence.model import Reading
from toolkit.evidence.parser import Common, Parser, Taken
from toolkit.evidence.text import Line
from toolkit.evidence.tools import PARSERS, TOOLS, tools_of

MODULE = "toolkit.evidence.tools.dcgmi"


class Made(Reading):
    """A reading with figures."""

    def _figures(self) -> str:
        return "1"


class Plain(Reading):
    """A reading without figures."""


class MadeParser(Parser):
    """A parser with all its parts."""

    tool = "dcgmi"
    kind = Made
    starts = "dcgmi"

    def feed(self, line: Line) -> Taken:  # noqa: ARG002
        """Take all."""
        return Taken.YES

    def reading(self, common: Common) -> Made:
        """Return nothing."""
        return Made(complete=True, **common)


class SisterParser(MadeParser):
    """A parser of another tool in the same module."""

    tool = "dcgmi-diag"


class NamelessParser(MadeParser):
    """A parser without `starts`."""


def criterion(*needs: str) -> Criterion:
    """Return one that needs these tools."""
    return Criterion(name="c", title="", limit="", applies="", source="", needs=needs, judge=lambda _: None)


def made(**parts: object) -> ModuleType:
    """Return a module of a tool with these parts changed; None: without it."""
    module = ModuleType(MODULE)
    for name, value in {"MadeParser": MadeParser, "CRITERIA": (criterion(),), **parts}.items():
        if value is not None:
            setattr(module, name, value)
    return module


@pytest.fixture(autouse=True)
def _of_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in (Made, Plain, MadeParser, SisterParser, NamelessParser):
        monkeypatch.setattr(each, "__module__", MODULE)


def test_a_tool_with_all_its_parts_is_found() -> None:
    """A module with a parser and criteria, which need the tool, is a tool."""
    (tool,) = tools_of(made())
    assert (tool.parser, [one.needs for one in tool.criteria]) == (MadeParser, [("dcgmi",)])


def test_each_criterion_of_a_family_is_of_the_tool_that_it_needs() -> None:
    """A module may have several tools; a criterion belongs to the one that it needs."""
    first, second = tools_of(made(Sister=SisterParser, CRITERIA=(criterion("dcgmi-diag"),)))
    assert (first.parser, first.criteria) == (MadeParser, ())
    assert (second.parser, [one.needs for one in second.criteria]) == (SisterParser, [("dcgmi-diag",)])


def test_tools_are_in_the_order_of_their_names() -> None:
    """No tool is there twice, each has a kind of reading of its own, and their order is that of their names."""
    names = [parser.tool for parser in PARSERS]
    assert names == sorted({*names})
    assert len(names) == len(TOOLS) == len({parser.kind for parser in PARSERS})


@pytest.mark.parametrize(
    ("parts", "lacks"),
    [
        ({"MadeParser": None}, "0 parsers"),
        ({"Other": NamelessParser}, "2 parsers"),
        ({"CRITERIA": None}, "CRITERIA"),
        ({"CRITERIA": (criterion("dcgmi", "nccl"),)}, "needs"),
        ({"Sister": SisterParser}, "needs"),
    ],
)
def test_what_a_module_lacks_is_named_with_its_file(parts: dict[str, object], lacks: str) -> None:
    """A tool without parser or criteria, or with a criterion of several tools, fails at import."""
    with pytest.raises(TypeError, match=rf"toolkit/evidence/tools/dcgmi\.py.*{lacks}"):
        [*tools_of(made(**parts))]


@pytest.mark.parametrize(
    ("attribute", "value", "lacks"),
    [
        ("kind", Plain, "figures"),
        ("kind", HostReading, "HostReading"),
        ("starts", None, "starts"),
        ("starts", r"dcgmi (?![2-9])", r"`starts` of MadeParser: \[2-9\] .* write \\d"),
    ],
)
def test_what_a_parser_lacks_is_named_with_its_file(
    monkeypatch: pytest.MonkeyPatch, attribute: str, value: object, lacks: str
) -> None:
    """A parser without `starts` or their shape, with a shared kind or one that has no figures fails at import."""
    if value is None:
        monkeypatch.delattr(MadeParser, attribute)
    else:
        monkeypatch.setattr(MadeParser, attribute, value)
    with pytest.raises(TypeError, match=rf"toolkit/evidence/tools/dcgmi\.py.*{lacks}"):
        [*tools_of(made())]
