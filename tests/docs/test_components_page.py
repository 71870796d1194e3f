"""The page of components."""

import importlib
import inspect
from pathlib import Path

import components
from components.component import Component
from tests.support.recorded import ROOT


def test_every_component_is_on_the_page_with_its_outputs() -> None:
    """Prevents a component that nobody finds, and a page that lists outputs which are no longer there."""
    page = (ROOT / "docs" / "components.md").read_text()
    rows = {line.split("[")[1].split("]")[0]: line for line in page.splitlines() if line.startswith("| [")}
    found = {}
    for file in Path(components.__file__).parent.glob("*.py"):
        module = importlib.import_module(f"components.{file.stem}")
        for name, item in inspect.getmembers(module, inspect.isclass):
            if issubclass(item, Component) and item is not Component and item.__module__ == module.__name__:
                found[name] = (file.name, sorted(inspect.get_annotations(item)))
    assert rows.keys() == found.keys()
    for name, (source, outputs) in found.items():
        assert f"../components/{source}" in rows[name]
        assert sorted(rows[name].split("|")[3].replace("`", "").replace(" ", "").split(",")) == outputs
