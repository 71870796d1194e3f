"""The pages of the rules."""

import re
from typing import Any

from apis import yaml_text
from policies import docs
from policies.rules import RULES

COVERAGE: dict[str, dict[str, dict[str, Any]]] = yaml_text.read(docs.COVERAGE_DATA.read_text())
ENTRIES = {name: entry for entries in COVERAGE.values() for name, entry in entries.items()}
POLICY_LIST = [f"P-{number}" for number in range(1, 16)]
_ROWS = """
R-1.3 R-2.2-2 R-2.2-6 R-3.4.2-3 R-3.4.2-7 R-3.4.3-1 R-3.4.3-2 R-3.4.3-6 R-3.4.3-7 R-3.4.5-3 R-3.4.5-6 R-4.2-5
R-4.2-8 R-4.3-2 R-4.3-6 R-4.3-7 R-4.3-8 R-4.4-10 S-4.3 S-4.4 S-6.3 N-2.4 N-4.2 N-5.2 N-8.4 D-3.6 D-4.1 D-5.3
B-2.1 B-4.3 B-4.4 B-5.3 B-5.4 E-13 E-17 E-18 E-26 E-40 E-65
"""
ROWS = _ROWS.split()
"""Rows of the inventory that are marked as a policy, or whose mending is one."""


def test_pages_are_what_the_rules_say() -> None:
    """The pages are those that the rules generate."""
    written = {path.name: path.read_text() for path in docs.FOLDER.glob("*.md")}
    wanted = docs.pages()
    differing = [name for name in sorted({*written, *wanted}) if written.get(name) != wanted.get(name)]
    assert not differing, f"run `make docs`, which writes {', '.join(f'docs/policies/{name}' for name in differing)}"


def test_links_lead_somewhere() -> None:
    """Links in the pages lead to existing files."""
    for path in docs.FOLDER.glob("*.md"):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_every_demand_is_accounted_for() -> None:
    """Each policy that the sources ask for is held by a rule, or a note says by what else."""
    assert sorted(ENTRIES) == sorted([*POLICY_LIST, *ROWS])
    known = {rule.name for rule in RULES}
    for name, entry in ENTRIES.items():
        assert entry.get("rules") or entry.get("note"), name
        assert set(entry.get("rules", ())) <= known, name
