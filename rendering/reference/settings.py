"""docs/settings.md: every setting of a stack."""

from pathlib import Path

from rendering.reference import markdown, tables
from stacks.settings import KEY, PROJECT, Settings

FILE = tables.ROOT / "docs" / "settings.md"


def pages() -> dict[Path, str]:
    """Return the text of the page, by its file."""
    return {FILE: _page()}


def _page() -> str:
    return f"""# Settings

A stack is one object, `{PROJECT}:{KEY}`, under `config` in `Pulumi.<stack>.yaml`. Unknown fields are errors, and all
errors of a file are reported at once. Paths below begin at that object; `[]` stands for each entry of a list, `.*` for
each of a map. Where a field takes one of several forms, each form has a table, with the value that chooses it. This
page is written from the code by `make docs`.

{markdown.flowing(Settings.__doc__ or "")}

{tables.document(Settings, level=2, root="")}
"""
