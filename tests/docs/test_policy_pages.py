"""The pages of the rules."""

import re
from typing import Any

from core.yaml import text as yaml_text
from policies import docs
from policies.rules import RULES

ENTRIES: dict[str, dict[str, Any]] = yaml_text.read(docs.COVERAGE_DATA.read_text())
POLICY_LIST = [f"P-{number}" for number in range(1, 16)]


def test_pages_are_what_the_rules_say() -> None:
    """The pages are those that the rules generate."""
    generated = docs.pages()
    files = {*docs.FOLDER.glob("*.md"), *generated}
    stale = [file.name for file in sorted(files) if not file.exists() or generated.get(file) != file.read_text()]
    assert stale == [], "run `make docs`"


def test_links_lead_somewhere() -> None:
    """Links in the pages lead to existing files."""
    for path in docs.FOLDER.glob("*.md"):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_every_demand_is_accounted_for() -> None:
    """Each suggested policy is held by rules that exist; those of the documents' rows are in test_coverage.py."""
    assert sorted(ENTRIES) == sorted(POLICY_LIST)
    known = {rule.name for rule in RULES}
    for name, entry in ENTRIES.items():
        assert entry["rules"], name
        assert set(entry["rules"]) <= known, name
