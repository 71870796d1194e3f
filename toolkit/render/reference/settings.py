"""docs/reference/settings.md: every setting of a stack."""

from collections.abc import Iterable
from pathlib import Path

from stacks.loading.settings import KEY, PROJECT, Settings
from stacks.settings.layers import TENANTS_PART, PlatformLayer, TenantsFile
from toolkit.render.reference import markdown, tables

FILE = tables.ROOT / "docs" / "reference" / "settings.md"
_DIVIDED = "../guide/several-stacks.md#separate-stacks-for-platform-and-tenants"


def pages() -> dict[Path, str]:
    """Return the text of the page, by its file."""
    return {FILE: _page()}


def _page() -> str:
    return f"""# Settings

A stack is one object, `{PROJECT}:{KEY}`, under `config` in `Pulumi.<stack>.yaml`. Unknown fields are errors, and all
errors of a file are reported at once. Paths below begin at that object; `[]` stands for each entry of a list, `.*` for
each of a map. Where a field takes one of several forms, each form has a section, which begins with the field and the
value that choose it. Fields that several sections share are described once; the others link to them. This page is
written from the code by `make docs`.

{markdown.flowing(Settings.__doc__ or "")}

{tables.document(Settings, level=2)}

## In layers

{markdown.flowing(f"{PlatformLayer.__doc__} {TenantsFile.__doc__} [How to divide one]({_DIVIDED}).")}

The platform's file has `layer: platform`, and none of {_listed(TENANTS_PART)}. A file of tenants has those, `adopted`,
as `cluster` the `kubeconfig` and `context` of [ClusterSettings](#clustersettings) or nothing, and:

{tables.fields(TenantsFile, tables.link, without=Settings)}
"""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
