"""Many lines that say the same."""

from toolkit.review.section import Line, grouped
from toolkit.review.sentences import bare, name


def lines(*spaces: str, words: str = "is open", alarm: bool = False) -> list[Line]:
    """Return a line for each namespace."""
    return [Line(f"policy {name(f'{each}/p')} of {name(each)} {words} to {name('x')}", (), alarm) for each in spaces]


def test_lines_alike_are_one() -> None:
    """Lines that differ in one name are one line, and others stay."""
    spaces = [f"team-{index:02}" for index in range(100)]
    found = grouped([*lines(*spaces[:50]), *lines("adas", words="is shut"), *lines(*spaces[50:], "vision")])
    assert [bare(line.text) for line in found] == [
        "policy team-00/p of team-00 is open to x; likewise for 100 others: team-01 to team-99 and vision",
        "policy adas/p of adas is shut to x",
    ]


def test_nothing_is_left_out() -> None:
    """Grouped alarms name each object and stay alarms."""
    spaces = [f"{each}-team" for each in "abcdefghijklmnopqrstuvwxyz"]
    (found,) = grouped(lines(*spaces, alarm=True))
    assert found.alarm
    assert bare(found.text) == "policy a-team/p of a-team is open to x; likewise for 25 others"
    assert all(space in " ".join(found.details) for space in spaces[1:])
    mixed = [*lines("a", "b"), *lines("c", "d", alarm=True)]
    assert grouped(mixed) == mixed


def test_lines_that_differ_stay() -> None:
    """Lines that differ in their details or in two names are not grouped."""
    detailed = [Line(f"pool {name(each)}", (f"of {name(size)}",)) for each, size in zip("abcd", "1234", strict=True)]
    assert grouped(detailed) == detailed
    twice = lines("a") * 5
    assert grouped(twice) == twice
