"""Lists of hosts in Slurm's form."""

import re

import pytest

from core.hardware.hostlist import expanded, folded


@pytest.mark.parametrize(
    ("hosts", "text"),
    [
        (["dgx001", "dgx002", "dgx003"], "dgx[001-003]"),
        (["dgx001", "dgx003", "dgx004"], "dgx[001,003-004]"),
        (["dgx9", "dgx10"], "dgx9,dgx10"),
        (["gpu-a", "gpu-b"], "gpu-a,gpu-b"),
        (["gpu-a", "dgx01", "dgx02"], "gpu-a,dgx[01-02]"),
        (["dgx01"], "dgx01"),
    ],
)
def test_hosts_in_the_short_form(hosts: list[str], text: str) -> None:
    """Numbers of one width with one name before them become ranges, in the order of the hosts."""
    assert folded(hosts) == text


def test_ranges_are_expanded() -> None:
    """A range keeps the width of its numbers and what follows."""
    assert expanded("dgx[008-010,012]") == ("dgx008", "dgx009", "dgx010", "dgx012")
    assert expanded("dgx01") == ("dgx01",)
    assert expanded("gpu[9-10].lab") == ("gpu9.lab", "gpu10.lab")
    assert expanded("gpu[098-101]")[-1] == "gpu101"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("dgx[5-3]", "dgx[5-3]: the range 5-3 ends before it starts; correct it"),
        (
            "gpu[1-04]",
            "gpu[1-04]: the range 1-04 has numbers of two widths; write 01-04 or 1-4, as the names have them",
        ),
        ("gpu[01..04]", "gpu[01..04]: the brackets hold no range of numbers; write e.g. gpu[01-04] or gpu[01-04,07]"),
        ("gpu[01-04", "the brackets hold no range"),
        ("dgx[1-4999,6000-6001]", "more than 5000 nodes"),
    ],
)
def test_ranges_that_mean_no_hosts_are_refused(name: str, reason: str) -> None:
    """A range that is empty, ambiguous, too long or none is refused with the remedy."""
    with pytest.raises(ValueError, match=re.escape(reason)):
        expanded(name)
