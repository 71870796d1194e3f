"""Operators from OperatorHub: their declarations."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.apis import operators
from core.apis.kinds import KINDS

DECLARED = """
from core.apis.operator import Operator, Upgrade
OPERATOR = Operator(package="{}", upgrade=Upgrade("nothing"))
"""


@pytest.fixture
def another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the file of a further module of declarations, which is forgotten afterwards."""
    monkeypatch.setattr(operators, "__path__", [*operators.__path__, str(tmp_path)])
    yield tmp_path / "another.py"
    sys.modules.pop("core.apis.operators.another", None)


def test_a_module_is_found_by_itself(another: Path) -> None:
    """A module below core/apis/operators is an operator under its own name."""
    another.write_text(DECLARED.format("of-another"))
    assert operators.operators.__wrapped__()["another"].package == "of-another"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", r"another\.py has no OPERATOR; define"),
        (DECLARED.format("nfd"), "package nfd is declared twice; leave one"),
    ],
)
def test_a_wrong_module_fails_by_name(another: Path, text: str, complaint: str) -> None:
    """A module without an operator, or with the package of another, is named with the remedy."""
    another.write_text(text)
    with pytest.raises(TypeError, match=complaint):
        operators.operators.__wrapped__()


def test_kinds_of_instances_are_known() -> None:
    """The kind of an operator's own object is one of the platform's kinds."""
    assert {*operators.kinds()} <= {*KINDS}
