"""Lists of CPUs."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.hardware import cpus


@given(some.frozensets(some.integers(min_value=0, max_value=300)).filter(bool))
def test_what_is_written_is_read_back(numbers: frozenset[int]) -> None:
    """A CPU list that is written reads back as the same CPUs."""
    assert cpus.parse(cpus.write(numbers)) == numbers


def test_lists_are_as_lscpu_writes_them() -> None:
    """Lists have the form that lscpu prints."""
    assert cpus.write([*range(16), *range(128, 144)]) == "0-15,128-143"
    assert cpus.write([3, 1]) == "1,3"
    assert cpus.write([]) == ""


@pytest.mark.parametrize("text", ["", "0-", "-3", "a", "0,,1", "0-1-2"])
def test_what_is_no_list_is_refused(text: str) -> None:
    """A text that is not a list of CPUs is refused."""
    with pytest.raises(ValueError, match="is not a list of CPUs; write numbers"):
        cpus.parse(text)


def test_a_range_that_runs_backwards_is_refused() -> None:
    """A backward range is refused."""
    with pytest.raises(ValueError, match="ends before it starts: 9-3"):
        cpus.parse("0-1,9-3")
