"""docs/guide/operations.md, which tests/cluster/operations follows, has only blocks that a checkout can follow."""

import re

from tests.support.page_blocks import blocks
from tests.support.recorded import ROOT

PAGE = ROOT / "docs" / "guide" / "operations.md"
COMMANDS = {"./hpc", "cp", "echo", "export", "git", "kubectl", "make", "mv", "openssl", "umask"}
"""What a machine has that meets the README; there is no `oc`."""
_SHELL = re.compile(r"^(?:! |for .* do$|done$)")


def test_blocks_are_commands_of_the_readme_or_settings() -> None:
    """A shell block runs known commands; a block of settings says which file it is for."""
    for block in blocks(PAGE):
        if block.info.startswith("yaml "):
            assert (block.info.removeprefix("yaml ")) == "Pulumi.lab.yaml", block
            continue
        assert block.info == "sh", f"below {block.heading}: a block that no test follows; put it on another page"
        lines = block.text.replace("\\\n", " ").splitlines()
        commands = {text.split()[0] for line in lines if (text := _SHELL.sub("", line).strip())}
        assert commands <= COMMANDS, f"below {block.heading}: {sorted(commands - COMMANDS)} is not on each machine"
