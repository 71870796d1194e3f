"""The comparisons that `./hpc site diff` finds."""

import re

import pytest

from toolkit.cli.site.comparison import Compared, Comparison
from toolkit.cli.site.comparisons import by_tool


@pytest.mark.parametrize(
    ("tools", "reason"), [(("lsmod", "lsmod"), "two modules .* lsmod"), (("lsmodd",), "no parser .* lsmodd")]
)
def test_a_tool_has_one_comparison(tools: tuple[str, ...], reason: str) -> None:
    """Two comparisons of one tool, and one of an unknown tool, are refused at import."""
    made = Comparison(tools, lambda _reading, _site: Compared("it", ()))
    with pytest.raises(TypeError, match=re.compile(reason)):
        by_tool([made])
