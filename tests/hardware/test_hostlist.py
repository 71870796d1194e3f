"""Lists of hosts in Slurm's form."""

import pytest

from hardware.hostlist import expanded, folded


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
    """A range keeps the width of its numbers and what follows; an empty or a too long one is refused."""
    assert expanded("dgx[008-010,012]") == ("dgx008", "dgx009", "dgx010", "dgx012")
    assert expanded("dgx01") == ("dgx01",)
    assert expanded("gpu[9-10].lab") == ("gpu9.lab", "gpu10.lab")
    with pytest.raises(ValueError, match="5-3 ends before it starts"):
        expanded("dgx[5-3]")
    with pytest.raises(ValueError, match="more than 5000 nodes"):
        expanded("dgx[1-4999,6000-6001]")
