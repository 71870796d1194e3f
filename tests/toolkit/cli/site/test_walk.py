"""docs/guide/site.md, followed from settings to a switch and back."""

from pathlib import Path

import pytest

from tests.support import checkouts
from tests.support.messages import has
from tests.support.page_blocks import blocks, change, walked
from tests.support.recorded import ROOT

pytestmark = pytest.mark.engine  # it runs commands of a checkout, some seconds

HEADING = "From settings to a switch, and back"


def test_the_page_can_be_followed(tmp_path: Path) -> None:
    """Files are written and fresh, a changed setting makes one stale, and the difference is printed as on the page."""
    page = [block for block in blocks(ROOT / "docs" / "guide" / "site.md") if block.heading == HEADING]
    assert [block.info for block in page] == ["sh", "yaml Pulumi.dev.yaml", "sh", ""]
    written, changed, again, shown = page
    root = checkouts.copy(tmp_path)
    assert has(walked(written.text, root), "switches", "match the settings of stack dev")
    change(root / changed.info.split()[1], changed.text)
    output = walked(again.text, root)
    assert has(output, "switches/dgx-ib-switch1.onyx", "stale: the settings changed")
    flat = " ".join(output.split())
    assert all(" ".join(line.split()) in flat for line in shown.text.splitlines())
    assert flat.endswith("matches the settings of stack dev")
