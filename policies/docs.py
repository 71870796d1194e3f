"""Write docs/reference/policies/ from the rules: `python -m policies.docs`, or `make docs`.

A page for each rule, and the tables between two marks in README.md and ways-around.md there, and in
docs/coverage/policies.md; the rest of these is written manually. The examples are the rules' fixtures, with what the
checker finds in them.
"""

import importlib
import inspect
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from core import wording
from core.yaml import text as yaml_text
from policies.check import Checker
from policies.configuration import Configuration
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj, opened
from policies.rule import ALL_KINDS, FIXTURES, AnyRule, Finding, Severity, properties
from policies.rules import FAMILIES, RULES
from policies.ways_around import table

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference" / "policies"
INDEX = FOLDER / "README.md"
WAYS_AROUND = FOLDER / "ways-around.md"
COVERAGE = ROOT / "docs" / "coverage" / "policies.md"
COVERAGE_DATA = COVERAGE.with_suffix(".yaml")
_BEGIN, _END = "<!-- generated: begin -->", "<!-- generated: end -->"
_UNKNOWN = "<unknown>"
_ANOTHER_KIND = 150  # characters of difference that are as bad as another kind of object
_LONG_ENOUGH = 300  # characters of a manifest; about a container with the finding about it
_SEVERITIES = {
    Severity.MANDATORY: "mandatory: stops the update, and `./hpc check` exits with status 1",
    Severity.ADVISORY: "advisory: is reported, and stops nothing",
}
_WHERE = {
    False: "one object at a time, on its inputs, before it is created",
    True: "the whole stack, at the end of a preview or an update, because it follows links between objects",
}


@dataclass(frozen=True)
class Example:
    """One fixture of a rule."""

    manifests: list[Any]
    parameters: Mapping[str, Any]

    @property
    def size(self) -> int:
        """Length of the manifests, in characters."""
        return len(str(self.manifests))


def pages(rules: Iterable[AnyRule] = RULES) -> dict[Path, str]:
    """Return the texts of the pages that are generated, wholly or in part, by file."""
    listed = tuple(rules)
    return {
        **{FOLDER / f"{rule.name}.md": page(rule) for rule in listed},
        INDEX: _between(INDEX, _index(listed)),
        COVERAGE: _between(COVERAGE, _coverage(yaml_text.read(COVERAGE_DATA.read_text()))),
        WAYS_AROUND: _between(WAYS_AROUND, table()),
    }


def page(rule: AnyRule) -> str:
    """Return the page of a rule."""
    denied, allowed = _examples(rule)
    every = "every object" if rule.kinds is ALL_KINDS else ""
    kinds = every or ", ".join(sorted({kind.kind for kind in rule.kinds})) or "pods and all objects that create pods"
    messages = "\n".join(f"- {_prose(f'{finding.place}: {finding.message}')}" for finding in _findings(rule, denied))
    return f"""# {rule.name}

{_prose(rule.what)}

- Severity: {_SEVERITIES[rule.severity]}.
- Applies to: {kinds}.
- In the pack: {_WHERE[rule.links]}.
- Source: {rule.source}.

## Why

{_prose(rule.why)}

## Remedy

{_prose(rule.remedy)}.

## Parameters

{_parameters(rule)}

## Denied

{_manifests(denied)}

{messages}

## Allowed

{_manifests(allowed)}
"""


def _parameters(rule: AnyRule) -> str:
    schemas = properties(rule.parameters)
    if not schemas:
        return "None."
    defaults = rule.parameters().model_dump(mode="json")
    rows = [
        (f"`{name}`", _type(schema), f"`{json.dumps(defaults[name])}`", _cell(schema.get("description", "")))
        for name, schema in schemas.items()
    ]
    return wording.table(("parameter", "type", "default", "meaning"), rows)


def _type(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(option) for option in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if "properties" in schema:
        return "object with " + ", ".join(f"`{name}`" for name in schema["properties"])
    return str(schema.get("type", "any value"))


def _examples(rule: AnyRule) -> tuple[Example, Example]:
    """Return a denied fixture that is long enough to be one, and an allowed one that is most like it."""
    denied = min(
        _candidates(rule, "denied"), key=lambda example: (bool(example.parameters), abs(example.size - _LONG_ENOUGH))
    )
    kind = denied.manifests[0].get("kind")
    allowed = min(
        _candidates(rule, "allowed"),
        key=lambda example: (
            example.parameters != denied.parameters,
            abs(example.size - denied.size) + (_ANOTHER_KIND if example.manifests[0].get("kind") != kind else 0),
        ),
    )
    return denied, allowed


def _candidates(rule: AnyRule, side: str) -> list[Example]:
    examples = []
    for path in sorted((FIXTURES / rule.name / side).glob("*.yaml")):
        content = yaml_text.read(path.read_text())
        manifests, parameters = content.get("objects") or [content["object"]], content.get("parameters", {})
        if _UNKNOWN not in str(manifests) and content.get("complete", True):
            examples.append(Example(manifests, parameters))
    if not examples:
        missing = (FIXTURES / rule.name / side / "<case>.yaml").relative_to(ROOT)
        raise LookupError(
            f"{rule.name} has no manifest that is {side} and that its page can show: add {missing} without {_UNKNOWN}"
        )
    return examples


def _findings(rule: AnyRule, example: Example) -> list[Finding]:
    subjects = [subject for manifest in example.manifests for _, subject in opened(Obj(manifest))]
    checker = Checker([rule], Configuration({rule.name: example.parameters}, (rule,)))
    return list(checker.check(subjects, Inventory(subjects, complete=True)))


def _manifests(example: Example) -> str:
    text = "---\n".join(
        yaml.safe_dump(manifest, sort_keys=False, default_flow_style=None, width=110) for manifest in example.manifests
    )
    configured = f"With the parameters `{json.dumps(example.parameters)}`:\n\n" if example.parameters else ""
    return f"{configured}```yaml\n{text}```"


def _index(rules: tuple[AnyRule, ...]) -> str:
    lines = []
    for family, members in FAMILIES.items():
        rows = [
            (f"[{rule.name}]({rule.name}.md)", _cell(rule.what), str(rule.severity), _cell(rule.source))
            for rule in members
            if rule in rules
        ]
        lines += [
            f"### {_heading(family)}",
            "",
            wording.table(("rule", "what it requires", "severity", "source"), rows),
            "",
        ]
    return "\n".join(lines)


def _heading(family: str) -> str:
    """Return what the docstring of the family's package or module says that its rules are for."""
    what = inspect.cleandoc(importlib.import_module(f"policies.rules.{family}").__doc__ or "")
    subject = what.removeprefix("Rules for ").removesuffix(".")
    return subject[:1].upper() + subject[1:] or family


def _coverage(data: Mapping[str, Mapping[str, Any]]) -> str:
    rows = []
    for name, entry in data.items():
        rules = ", ".join(f"[{rule}](../reference/policies/{rule}.md)" for rule in entry["rules"])
        rows.append((name, _cell(entry["asks"]), _cell("; ".join(filter(None, (rules, entry.get("note", "")))))))
    return wording.table(("id", "what it asks for", "enforced by"), rows) + "\n"


def _between(file: Path, text: str) -> str:
    before, begin, generated = file.read_text().partition(_BEGIN)
    _, end, after = generated.partition(_END)
    if not begin or not end:
        raise LookupError(f"{file.relative_to(ROOT)} lacks the marks {_BEGIN} and {_END}")
    return f"{before}{_BEGIN}\n\n{text}\n{_END}{after}"


def _cell(text: str) -> str:
    return _prose(text).replace("|", "\\|").replace("\n", " ")


def _prose(text: str) -> str:
    """Keep `<name>` from being taken for HTML, outside of code."""
    parts = text.split("`")
    return "`".join(part if index % 2 else part.replace("<", "\\<") for index, part in enumerate(parts))


def main() -> None:
    """Write the pages, and remove those of rules that are gone."""
    texts = pages()
    for path in FOLDER.glob("*.md"):
        if path not in texts:
            path.unlink()
    for path, text in texts.items():
        path.write_text(text)


if __name__ == "__main__":
    main()
