"""docs/reference/evidence-schema.md, the fields of every tool, and docs/reference/criteria.md, what jobs must show."""

from pathlib import Path

from pydantic import BaseModel

from core.goodput import GoodputLines
from core.metric import Metric
from core.yaml import text as yaml_text
from toolkit.evidence.criteria import COMPARISONS, CRITERIA
from toolkit.evidence.criterion import Comparison, Criterion
from toolkit.evidence.diagnosis.cause_table import CAUSES, FACTS, Cause
from toolkit.evidence.model import Reading
from toolkit.evidence.records import Run, kinds
from toolkit.evidence.reference import PublicLimit, public_limits
from toolkit.evidence.verdict import Data, Job, Proof, Request, Shape, Verdict
from toolkit.render.reference import markdown, tables

SCHEMA = tables.ROOT / "docs" / "reference" / "evidence-schema.md"
LIMITS = tables.ROOT / "docs" / "reference" / "criteria.md"
THRESHOLDS = tables.ROOT / "docs" / "reference" / "field-thresholds.yaml"


def pages() -> dict[Path, str]:
    """Return the texts of both pages, by their files."""
    return {SCHEMA: _schema(), LIMITS: _limits()}


def _schema() -> str:
    tools = "\n\n".join(_tool(name, kind) for name, kind in sorted(kinds().items()))
    return f"""# Evidence

`./hpc verify --figures FILE... --json` prints an array with one object for each run of a tool that the files hold, in
their order. The tool is recognised by its output, not by the file's name; prefixes of launchers, kubectl, loggers and
terminals are removed first. Figures are those that were printed; figures that are computed from them, to check them,
have fields of their own. Lines that could not be read are in `unread`. A figure that was not printed is `null`. `line`
is the number of the line, from 1, that a row was read from; a field without a description has the tool's own name. This
page is generated from the code by `make docs`.

## Every reading

{markdown.flowing(Reading.__doc__ or "")}

{tables.document(Reading, level=3)}

`tool` is `unknown`, with these fields only, for lines in which no tool was recognised, and `nccl` for a log that holds
messages of NCCL and nothing else.

{tools}

## Results

Each `./hpc verify` of a stack adds one line to its results, `runs.jsonl`: a Run as JSON, in which a field that has its
default may be absent. Lines are never changed. A line that was cut, as by a run that was killed, is left out with a
warning; one with a newer `schema_version` is refused. Of an unknown tool, the fields of every reading are read.

{_results()}
"""


def _results() -> str:
    models = (Run, Job, Request, Shape, Data, Metric, GoodputLines, Verdict, Proof)

    def link(model: type[BaseModel]) -> str:
        title = "Every reading" if model is Reading else model.__name__
        return f"[{model.__name__}](#{markdown.anchor(title)})"

    return "\n\n".join(
        f"### {model.__name__}\n\n{markdown.flowing(model.__doc__ or '')}\n\n{tables.fields(model, link)}"
        for model in models
    )


def _tool(name: str, kind: type[Reading]) -> str:
    parts = [part for part in tables.parts(kind) if part.model not in _COMMON]

    def title(model: type[BaseModel]) -> str:
        return (
            "Every reading" if model is Reading else model.__name__ if model in _COMMON else f"{name} {model.__name__}"
        )

    def link(model: type[BaseModel]) -> str:
        return f"[{model.__name__}](#{markdown.anchor(title(model))})"

    sections = [f"## {name}\n\n{markdown.flowing(kind.__doc__ or '')}\n\n{tables.fields(kind, link, without=Reading)}"]
    for part in parts[1:]:
        places = ", ".join(f"`{path}`" for path in part.paths)
        about = markdown.flowing(part.model.__doc__ or "")
        sections.append(f"### {title(part.model)}\n\nAt {places}. {about}\n\n{tables.fields(part.model, link)}")
    return "\n\n".join(sections)


_COMMON = frozenset(part.model for part in tables.parts(Reading))


def _limits() -> str:
    heads = ("criterion", "meaning", "limit", "unit", "tolerance", "applies to", "needs", "source")
    rows = [
        (*_row(criterion), ", ".join(f"`{name}`" for name in criterion.needs), criterion.source)
        for criterion in CRITERIA
    ]
    return f"""# Criteria

`./hpc verify` judges jobs by the criteria that apply to them. Limits come from the documents: where none gives a number
for a profile, fabric, transport and shape, the criterion does not apply. A verdict is `pass`, `fail`, `warn` (worth
reading, but no reason to reject the platform) or `missing` (the logs lack the evidence). Exit status: 0 when
nothing failed and nothing is missing, 1 when something failed, 2 when evidence is missing. This page is generated from
the code by `make docs`.

## Single jobs

{markdown.table(heads, rows)}

## Comparisons of jobs

{markdown.table(heads, [(*_row(comparison), "", comparison.source) for comparison in COMPARISONS])}

## Known causes

A verdict other than `pass` names the causes that the logs show, with the lines that show them. Where one call has
several causes, its error decides. A cause is not shown where other evidence rules it out, and a symptom (*) only where
nothing else explains the failure. Releases of NCCL and PyTorch are those whose sources were read.

{markdown.table(("cause", "why", "what to do", "ruled out where", "source"), map(_cause, CAUSES))}

## Public limits

All-reduce bus bandwidth on whole machines; below it, `public-bus-bandwidth` warns
([toolkit/evidence/public-limits.yaml](../../toolkit/evidence/public-limits.yaml)).

{markdown.table(("machines", "number", "from MiB", "GB/s", "source"), map(_public, public_limits()))}

## What others check

Limits from public records, for comparison where no criterion has one. No job is judged by them.

{markdown.table(("who", "machine", "check", "limit"), yaml_text.read(THRESHOLDS.read_text()))}
"""


def _cause(cause: Cause) -> tuple[str, ...]:
    meanings = {fact.name: fact.meaning for fact in FACTS}
    ruled_out = "; ".join(meanings[name] for name in sorted(cause.contradicted_by))
    return (f"`{cause.name}`{' *' if cause.last_resort else ''}", cause.why, cause.remedy, ruled_out, cause.source)


def _public(limit: PublicLimit) -> tuple[str, ...]:
    ports = f", {limit.ports} ports of {limit.rate_gbps} Gb/s" if limit.ports else ""
    number = f"{limit.nodes}" if limit.most_nodes == limit.nodes else f"{limit.nodes} to {limit.most_nodes or 'any'}"
    share = "" if limit.share == 1 else f" ({limit.share:g} x {limit.gb_s:g})"
    return (
        f"{limit.gpus} x {limit.gpu or 'any GPU'}{ports}",
        number,
        f"{limit.mib}",
        f"{limit.least:g}{share}",
        limit.source,
    )


def _row(criterion: Criterion | Comparison) -> tuple[str, ...]:
    return (
        f"`{criterion.name}`",
        criterion.title,
        criterion.limit,
        criterion.unit,
        criterion.tolerance,
        criterion.applies,
    )
