"""Operators from OperatorHub: their declarations."""

from core.apis import operators
from core.apis.kinds import KINDS


def test_no_package_is_declared_twice() -> None:
    """A package of the catalogue is one operator, so that reviews and checks find it by its package."""
    packages = [operator.package for operator in operators.OPERATORS.values()]
    assert sorted({*packages}) == sorted(packages)


def test_kinds_of_instances_are_known() -> None:
    """The kind of an operator's own object is one of the platform's kinds."""
    assert {*operators.kinds()} <= {*KINDS}
