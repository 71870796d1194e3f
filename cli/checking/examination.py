"""The rules over files: what they find, with file, line and column, and what could not be read."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import cast

from cli.checking.documents import Aliases, Document, NotReadable, documents
from cli.checking.places import offsets
from cli.checking.sources import Source
from cli.checking.texts import Chunk, chunks, decode
from policies import exceptions
from policies.check import Checker
from policies.exceptions import RuleException
from policies.findings import Finding
from policies.objects import Obj, items
from policies.redaction import redact, secret_texts
from policies.templates import OBJECTS, processed
from policies.values import Path, Tree, read
from policies.world import World

_TEMPLATE = "{{"
_TEMPLATE_HINT = "is a template that is not rendered ({{ }}): check what `helm template` makes of it, e.g. with -f -"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an object comes from: the document of a chunk of a file, and the object's place in it."""

    file: str
    chunk: Chunk
    document: int
    path: Path


@dataclass(frozen=True, slots=True, order=True)
class Remark:
    """Something to say about a file itself; lines and columns count from 1, and 0 is the file as a whole."""

    file: str
    line: int
    column: int
    message: str


@dataclass(frozen=True, slots=True)
class Located:
    """A finding with the place of its field."""

    file: str
    line: int
    column: int
    finding: Finding


@dataclass
class Result:
    """All that is to be reported. `problems` are what could not be read; `notes` are what was left out, and why."""

    findings: list[Located] = field(default_factory=list)
    problems: list[Remark] = field(default_factory=list)
    notes: list[Remark] = field(default_factory=list)
    files: int = 0
    objects: int = 0
    pods: int = 0


def examine(
    files: Iterable[Source],
    checker: Checker,
    *,
    context: Sequence[Obj] = (),
    complete: bool = False,
    exempt: Sequence[RuleException] = (),
    today: date,
) -> Result:
    """Read the files and run the rules over their objects.

    `context` are objects of elsewhere at the other ends of links, which are not reported; one of the same name in the
    files takes its place. `exempt` are the exceptions, in force on `today`.
    """
    result = Result()
    subjects = [each for file in files for each in _read(file, result)]
    own = {_identity(each) for each in subjects}
    world = World([*subjects, *(each for each in context if _identity(each) not in own)], complete=complete)
    found = list(exceptions.waive(_findings(checker, subjects, world, result), exempt, today))
    if secrets := secret_texts(subjects):
        found = [redact(finding, secrets) for finding in found]
    result.findings = sorted([*_located(found), *_ended(exempt, today)], key=_order)
    result.problems.sort()
    result.notes.sort()
    result.objects = len(subjects)
    result.pods = sum(len(each.pods) for each in subjects)
    return result


def _read(file: Source, result: Result) -> Iterator[Obj]:
    if file.note:
        result.notes.append(Remark(file.name, 0, 0, file.note))
        return
    result.files += 1
    try:
        if file.problem:
            result.problems.append(Remark(file.name, 0, 0, file.problem))
            return
        text = decode(file.content)
    except NotReadable as error:
        place = Chunk(file.content.decode(errors="replace"), 1).position(error.offset)
        result.problems.append(Remark(file.name, *place, str(error)))
        return
    aliases = Aliases.of(text)
    plain: dict[str, object] = {}
    for chunk in chunks(text):
        try:
            for number, document in enumerate(documents(chunk.text, aliases, plain)):
                yield from _objects(file.name, chunk, number, document, result)
        except NotReadable as error:
            template = chunk.text.find(_TEMPLATE)
            offset, message = (error.offset, str(error)) if template < 0 else (template, _TEMPLATE_HINT)
            result.problems.append(Remark(file.name, *chunk.position(offset), message))


def _objects(file: str, chunk: Chunk, number: int, document: Document, result: Result) -> Iterator[Obj]:
    found = [(path, item) for path, item in items(document.tree) if _is_object(item)]
    for path, item in found:
        yield _object(document.tree, path, item, Origin(file, chunk, number, path))
    if found and document.faults:
        places = chunk.positions(fault.offset for fault in document.faults)
        for place, fault in zip(places, document.faults, strict=True):
            result.problems.append(Remark(file, *place, fault.message))
    elif not found and document.tree is not None and not _is_object(document.tree):
        message = "is no Kubernetes object (no apiVersion and kind) and was not checked"
        result.notes.append(Remark(file, *chunk.position(document.offset), message))


def _object(document: Tree, path: Path, item: Tree, origin: Origin) -> Obj:
    if OBJECTS not in path:
        return Obj(item, origin)
    tree, unknown = processed(item, read(document, *path[:-2], "parameters"))  # before: objects, index
    return Obj(tree, origin, unknown=unknown)


def _is_object(item: Tree) -> bool:
    return isinstance(item, dict) and all(
        isinstance(item.get(key), str) and item[key] for key in ("apiVersion", "kind")
    )


def _identity(subject: Obj) -> tuple[str, str, str, str]:
    return subject.group, subject.kind, subject.namespace, subject.name


def _findings(checker: Checker, subjects: Iterable[Obj], world: World, result: Result) -> Iterator[Finding]:
    for subject in subjects:
        try:
            yield from checker.check([subject], world)
        except Exception as error:  # a fault of a rule must not hide what the others find elsewhere
            message = f"{subject}: a rule failed, a fault of this program: {type(error).__name__}: {error}"
            origin = cast("Origin", subject.origin)
            result.problems.append(Remark(origin.file, origin.chunk.line, 1, message))


def _located(findings: Iterable[Finding]) -> Iterator[Located]:
    documents_of: dict[tuple[int, int], list[Finding]] = defaultdict(list)
    for finding in findings:
        documents_of[id(finding.origin.chunk), finding.origin.document].append(finding)
    for (_, number), group in documents_of.items():
        origin: Origin = group[0].origin
        paths = [(*finding.origin.path, *finding.path) for finding in group]
        found = offsets(origin.chunk.text, number, set(paths))
        places = origin.chunk.positions(found[path] for path in paths)
        for finding, place in zip(group, places, strict=True):
            yield Located(origin.file, *place, finding)


def _ended(exempt: Sequence[RuleException], today: date) -> Iterator[Located]:
    for finding in exceptions.ended(exempt, today):
        yield Located(str(finding.origin or exceptions.FILE.name), 1, 1, finding)


def _order(each: Located) -> tuple[str, int, int, str, str]:
    return each.file, each.line, each.column, each.finding.rule, each.finding.message
