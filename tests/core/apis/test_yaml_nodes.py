"""Places in a YAML text."""

import pytest

from core.yaml.places import composed, line, position, value

TEXT = """\
config:
  nodes:
  - name: dgx01
    cpus: 40
  - name: dgx02
  <<: {more: 1}
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ((), 0),
        (("config", "nodes"), 1),
        (("config", "nodes", 0, "cpus"), 3),
        (("config", "nodes", 1), 4),
        (("config", "nodes", 1, "cpus"), 4),
        (("config", "nodes", 2, "name"), 1),
        (("config", "more"), 0),
    ],
)
def test_the_line_of_a_path_or_of_what_would_hold_it(path: tuple[str | int, ...], expected: int) -> None:
    """A key and an entry have their own line; what is missing has that of the nearest part."""
    assert line(composed(TEXT), path) == expected


@pytest.mark.parametrize(
    ("path", "of_key", "expected"),
    [
        (("config", "nodes", 0, "cpus"), False, (4, 11)),
        (("config", "nodes", 0, "cpus"), True, (4, 5)),
        (("config", "nodes"), False, (2, 3)),
        (("config", "nodes", 1), False, (5, 5)),
        (("config", "nodes", 1, "cpus"), False, (5, 5)),
        (("nodes",), False, None),
    ],
)
def test_the_position_of_a_value(path: tuple[str | int, ...], of_key: bool, expected: tuple[int, int] | None) -> None:
    """A value has its line and column; one below its key, and one that is missing, has those of what holds it."""
    assert position(composed(TEXT), path, of_key=of_key) == expected


def test_a_value_by_its_keys() -> None:
    """Keys lead to a value, or to none."""
    assert [each.value for each in value(composed(TEXT), "config", "nodes").value[1].value[0]] == ["name", "dgx02"]
    assert value(composed(TEXT), "config", "nodes", "name") is None
    assert value(composed(""), "config") is None
