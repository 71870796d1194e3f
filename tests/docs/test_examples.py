"""The guide to the examples."""

import re

from tests.support.recorded import ROOT


def test_the_guide_names_every_example() -> None:
    """The table of first-stack.md says of each example for which cluster it is, and names no other."""
    page = (ROOT / "docs" / "guide" / "first-stack.md").read_text()
    rows = re.findall(r"^\| [^|]+ \| (`.+) \|$", page.partition("## Examples")[2].partition("\n## ")[0], re.MULTILINE)
    named = [name for row in rows[1:] for name in re.findall(r"`([^`]+)`", row)]
    assert sorted(named) == sorted(path.stem for path in (ROOT / "stacks" / "examples").glob("*.yaml"))
