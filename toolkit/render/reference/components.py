"""docs/reference/components: a page for each component, and README.md as their index."""

import ast
import importlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pulumi

from components.base.component import Component
from components.base.model import Model
from toolkit.render.reference import declared_kinds, markdown, tables, type_text
from toolkit.render.reference.coverage_data import rows

ROOT = tables.ROOT
FOLDER = ROOT / "docs" / "reference" / "components"
INTRODUCTION = """# Components

A file in `components/` has one, or a few that tell one story, with their arguments' models. `stacks/` composes them, in
the order of installation. A page each has arguments, outputs and the kinds of objects; all is written from the code by
`make docs`.

The output `finished` raises, outside previews, when the job has failed; the message says why its pods failed. The
other outputs are known once the named object is ready, so that whatever uses one waits for it.
"""
AREAS: Mapping[str, str] = {
    "nodes": "Nodes",
    "operators": "Operators",
    "gpu": "GPUs",
    "rdma": "RDMA",
    "network": "Networks of pods",
    "security": "Security",
    "tenants": "Tenants",
    "mpi": "MPI",
    "storage": "Storage",
    "workloads": "Workloads",
    "objects": "Objects of one's own",
    "trainer": "Trainer",
}
"""Titles of the areas in the components' type tokens, in the order of the index; folders have names of their own."""


@dataclass(frozen=True)
class Subject:
    """One component, with the description in its code."""

    kind: type[Component]
    args: type[Model]
    module: ModuleType
    token: str

    @property
    def name(self) -> str:
        """Name of the class, and of the page."""
        return self.kind.__name__

    @property
    def file(self) -> str:
        """Its module, from the root."""
        return f"components/{self.module.__name__.partition('.')[2].replace('.', '/')}.py"

    @property
    def area(self) -> str:
        """First part of the token."""
        return self.token.partition(":")[0]

    @property
    def objects(self) -> tuple[declared_kinds.Row, ...]:
        """Kinds of what it declares, with their API versions."""
        return declared_kinds.kinds(self.name, self.module)

    @property
    def about(self) -> tuple[str, str]:
        """Its description and its outputs, from the docstring."""
        text = inspect.cleandoc(self.kind.__doc__ or "")
        what, _, outputs = text.partition("Outputs:")
        return what.strip().removeprefix(self.purpose).strip(), outputs.strip()

    @property
    def purpose(self) -> str:
        """First paragraph of the module's docstring; of the class's where the module has other components, too."""
        alone = sum(subject.module is self.module for subject in subjects()) == 1
        text = (self.module if alone else self.kind).__doc__ or ""
        return inspect.cleandoc(text).partition("\n\n")[0].replace("\n", " ")


@cache
def subjects() -> tuple[Subject, ...]:
    """Return all components, in the order of the index."""
    components = []
    for file in sorted((ROOT / "components").glob("*/*.py")):
        module = importlib.import_module(f"components.{file.parent.name}.{file.stem}")
        for name, item in inspect.getmembers(module, inspect.isclass):
            if issubclass(item, Component) and item is not Component and item.__module__ == module.__name__:
                args = inspect.get_annotations(item.__init__)["args"]
                components.append(Subject(item, args, module, _token(module, name)))
    areas = tuple(AREAS)
    return tuple(sorted(components, key=lambda subject: (areas.index(subject.area), subject.name)))


def pages() -> dict[Path, str]:
    """Return the text of every page and of the index, by file."""
    return {FOLDER / "README.md": _index()} | {FOLDER / f"{subject.name}.md": _page(subject) for subject in subjects()}


def _page(subject: Subject) -> str:
    what, outputs = subject.about
    blocks = (
        f"# {subject.name}",
        markdown.flowing(subject.purpose),
        markdown.flowing(what),
        _facts(subject),
        "## Arguments",
        markdown.flowing(subject.args.__doc__ or ""),
        *_beside(subject),
        tables.document(subject.args, level=3),
        "## Outputs",
        markdown.flowing(_sentence(outputs)),
        _outputs(subject),
        "## Objects",
        "What it declares; some of it only with the arguments that ask for it.",
        markdown.table(("kind", "API version"), subject.objects),
    )
    return "\n\n".join(block for block in blocks if block) + "\n"


def _facts(subject: Subject) -> str:
    users = [f"[{name}](../../../{name})" for name in composers().get(subject.name, ())]
    source_ids = _sources(subject)
    lines = [
        f"- Type: `hpc:{subject.token}`",
        f"- Code: [{subject.file}](../../../{subject.file})",
        f"- Composed by: {', '.join(users) or 'no stack'}",
        f"- Source: {', '.join(source_ids)}" if source_ids else "",
    ]
    return "\n".join(line for line in lines if line)


def _beside(subject: Subject) -> Iterator[str]:
    """Yield what the constructor takes beside its arguments, and beside name and options."""
    hints = inspect.get_annotations(subject.kind.__init__)
    others = [name for name in hints if name not in ("name", "args", "opts", "return")]
    if others:
        names = [f"`{name}`" for name in others]
        yield f"Beside name, arguments and options its constructor takes {' and '.join(names)}."


def _outputs(subject: Subject) -> str:
    hints = inspect.get_annotations(subject.kind)
    rows = [
        (f"`{name}`", type_text.plain(_content(hint), {}, lambda model: model.__name__)) for name, hint in hints.items()
    ]
    return markdown.table(("output", "type"), rows)


def _index() -> str:
    blocks = [INTRODUCTION.rstrip()]
    for area, title in AREAS.items():
        rows = [_entry(subject) for subject in subjects() if subject.area == area]
        if rows:
            blocks.append(
                f"## {title}\n\n" + markdown.table(("component", "what for", "objects", "outputs", "source"), rows)
            )
    return "\n\n".join(blocks) + "\n"


def _entry(subject: Subject) -> tuple[str, ...]:
    objects = dict.fromkeys(kind for kind, _ in subject.objects)
    outputs = [f"`{name}`" for name in inspect.get_annotations(subject.kind)]
    purpose = subject.purpose.removesuffix(".")
    link = f"[{subject.name}]({subject.name}.md)"
    return (link, purpose, ", ".join(objects), ", ".join(outputs), ", ".join(_sources(subject)))


def _sources(subject: Subject) -> list[str]:
    return sorted((name for name, entry in rows() if subject.file in entry.by), key=markdown.natural)


def _token(module: ModuleType, name: str) -> str:
    """Return area and name of a component's type token, which is a constant in the constructor."""
    for node in ast.walk(declared_kinds.definitions(module)[name]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__init__":
            token = str(ast.literal_eval(node.args[0]))
            if token.partition(":")[0] not in AREAS:
                raise LookupError(
                    f"{name}: the area of its token {token} has no title; take one of {', '.join(AREAS)}, or add it to "
                    "AREAS in toolkit/render/reference/components.py"
                )
            return token
    raise LookupError(f"{name}: no token in its constructor; give it as a constant to super().__init__")


@cache
def composers() -> Mapping[str, tuple[str, ...]]:
    """Return the files of stacks/ that make each component, by the component's name."""
    names = {subject.name for subject in subjects()}
    files_by_component: dict[str, list[str]] = {}
    for file in sorted((ROOT / "stacks").rglob("*.py")):
        calls = (node.func for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call))
        for name in sorted(names & {call.id for call in calls if isinstance(call, ast.Name)}):
            files_by_component.setdefault(name, []).append(f"{file.relative_to(ROOT)}")
    return {name: tuple(files) for name, files in files_by_component.items()}


def _content(hint: Any) -> Any:
    return get_args(hint)[0] if get_args(hint) and hint.__origin__ is pulumi.Output else hint


def _sentence(text: str) -> str:
    return text and f"{text.removesuffix('.')}."
