"""Many lines that say the same."""

from review.alike import merged
from review.section import Line
from review.words import bare, name


def lines(*spaces: str, words: str = "is open", alarm: bool = False) -> list[Line]:
    """Return a line for each namespace."""
    return [Line(f"policy {name(f'{each}/p')} of {name(each)} {words} to {name('x')}", (), alarm) for each in spaces]


def test_lines_alike_are_one() -> None:
    """Prevents a hundred tenants in a hundred lines, among which nobody finds the one that is another."""
    spaces = [f"team-{index:02}" for index in range(100)]
    found = merged([*lines(*spaces[:50]), *lines("adas", words="is shut"), *lines(*spaces[50:], "vision")])
    assert [bare(line.text) for line in found] == [
        "policy team-00/p of team-00 is open to x; likewise for 100 others: team-01 to team-99 and vision",
        "policy adas/p of adas is shut to x",
    ]


def test_nothing_is_left_out() -> None:
    """Prevents an alarm that hides behind others: each is named, and keeps its mark."""
    spaces = [f"{each}-team" for each in "abcdefghijklmnopqrstuvwxyz"]
    (found,) = merged(lines(*spaces, alarm=True))
    assert found.alarm
    assert bare(found.text) == "policy a-team/p of a-team is open to x; likewise for 25 others"
    assert all(space in " ".join(found.details) for space in spaces[1:])
    mixed = [*lines("a", "b"), *lines("c", "d", alarm=True)]
    assert merged(mixed) == mixed


def test_lines_that_differ_stay() -> None:
    """Prevents one line for what differs in its details, or in two names at once."""
    detailed = [Line(f"pool {name(each)}", (f"of {name(size)}",)) for each, size in zip("abcd", "1234", strict=True)]
    assert merged(detailed) == detailed
    twice = lines("a") * 5
    assert merged(twice) == twice
