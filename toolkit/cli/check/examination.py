"""The rules over files, or over a stack: what they find, with file, line and column, and what could not be read."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain
from typing import cast

from policies import exceptions
from policies.check import Checker
from policies.exceptions import RuleException, Tally
from policies.manifests.documents import Aliases, Document, NotReadable, documents
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj, items, opened
from policies.manifests.templates import OBJECTS, process
from policies.manifests.values import Path, Tree, read
from policies.rule import Finding, Severity, redact, secret_texts
from toolkit.cli.check import host_settings
from toolkit.cli.check.places import offsets
from toolkit.cli.check.sources import Source, StackObjects
from toolkit.cli.check.texts import Chunk, Variables, chunks, decode
from toolkit.cli.shared import errors

_NO_OBJECT = "is not a Kubernetes object (no apiVersion and kind) and was not checked"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an object comes from: the document of a chunk of a file, and the object's place in it.

    None is the chunk of an object that a stack declares: `file` is that of its settings then.
    """

    file: str
    chunk: Chunk | None = None
    document: int = 0
    path: Path = ()


@dataclass(frozen=True, slots=True, order=True)
class Notice:
    """A message about a file itself; lines and columns count from 1, and 0 is the file as a whole."""

    file: str
    line: int
    column: int
    message: str


@dataclass(frozen=True, slots=True)
class Located:
    """A finding with the place of its field; lines and columns are 0 for an object that a stack declares."""

    file: str
    line: int
    column: int
    finding: Finding


@dataclass
class Result:
    """All that is to be reported. `problems` are what could not be read; `notes` are what was left out, and why."""

    findings: list[Located] = field(default_factory=list)
    problems: list[Notice] = field(default_factory=list)
    notes: list[Notice] = field(default_factory=list)
    files: int = 0
    objects: int = 0
    pods: int = 0
    excepted: int = 0


def examine(
    files: Iterable[Source],
    checker: Checker,
    *,
    context: Sequence[Obj] = (),
    complete: bool = False,
    exempt: Sequence[RuleException] = (),
    ended: Severity | None = Severity.MANDATORY,
    today: date,
) -> Result:
    """Read the files and run the rules over their objects.

    `context` are objects of elsewhere at the other ends of links, which are not reported; one of the same name in the
    files takes its place. `exempt` are the exceptions, in force on `today`, and `ended` is the severity when one
    is over. Files without any object are a problem: what was to write them may have failed.
    """
    result = Result()
    names: list[str] = []
    subjects = [subject for file in files for subject in _read(file, result, names)]
    own = {_identity(subject) for subject in subjects}
    inventory = Inventory([*subjects, *(obj for obj in context if _identity(obj) not in own)], complete=complete)
    _judge(result, subjects, inventory, checker, exempt=exempt, ended=ended, today=today)
    result.findings = [_of_a_file(located) for located in result.findings]
    if not subjects and not result.problems:
        result.problems.append(_nothing(names))
    return result


def _of_a_file(located: Located) -> Located:
    """Return a finding as one about a file, whose values no update decides."""
    message = located.finding.message.replace("unknown until the update", "not known")
    if message == located.finding.message:
        return located
    return replace(located, finding=located.finding._replace(message=message))


def examine_stack(
    stack: StackObjects,
    checker: Checker,
    *,
    complete: bool = True,
    exempt: Sequence[RuleException] = (),
    ended: Severity | None = Severity.MANDATORY,
    today: date,
) -> Result:
    """Run the rules over the objects that a stack declares.

    What they find is located in the manifest of an object of one's own, of others in the settings' file.
    """
    result = Result(files=1, notes=[Notice(stack.file, 0, 0, warning) for warning in stack.warnings])
    files = (Source(path.relative_to(stack.root).as_posix(), path.read_bytes()) for path in stack.own)
    # What is wrong with these files, the settings have reported.
    own = {_identity(obj): obj.origin for file in files for obj in _read(file, Result(), [])}
    subjects = [Obj(obj.tree, own.get(_identity(obj)) or Origin(stack.file)) for obj in stack.declared]
    inventory = Inventory([*subjects, *stack.beside], complete=complete)
    of_hosts = [*host_settings.findings(stack.selinux, checker, Origin(stack.file))]
    _judge(result, subjects, inventory, checker, exempt=exempt, ended=ended, today=today, further=of_hosts)
    return result


def _judge(
    result: Result,
    subjects: Sequence[Obj],
    inventory: Inventory,
    checker: Checker,
    *,
    exempt: Sequence[RuleException],
    ended: Severity | None,
    today: date,
    further: Sequence[Finding] = (),
) -> None:
    """Note what the rules find in `subjects`, and `further` findings, where no exception covers them."""
    tally = Tally()
    everything = chain(_findings(checker, subjects, inventory, result), further)
    findings = list(exceptions.waive(everything, exempt, today, tally))
    if secrets := secret_texts(subjects):
        findings = [redact(finding, secrets) for finding in findings]
    of_others = [entry for entry in exempt if any(entry.matches(finding) for finding in further)]
    concerning = [*exceptions.exceptions_of(exempt, subjects), *of_others]
    result.findings = sorted([*_located(findings), *_ended(concerning, today, ended)], key=_order)
    if inventory.complete:
        result.notes += _unused((entry for entry in concerning if entry.rule in checker.rules), tally)
    result.problems.sort()
    result.notes.sort()
    result.objects = len(subjects)
    result.pods = sum(len(subject.pods) for subject in subjects)
    result.excepted = tally.excepted


def _read(file: Source, result: Result, names: list[str]) -> Iterator[Obj]:
    names.append(file.name)
    if file.note:
        result.notes.append(Notice(file.name, 0, 0, file.note))
        return
    result.files += 1
    try:
        if file.problem:
            result.problems.append(Notice(file.name, 0, 0, file.problem))
            return
        text = decode(file.content)
    except NotReadable as error:
        place = Chunk(file.content.decode(errors="replace"), 1).position(error.offset)
        result.problems.append(Notice(file.name, *place, str(error)))
        return
    aliases = Aliases.of(text)
    plain: dict[str, object] = {}
    variables = Variables(file.name)
    for chunk in chunks(text):
        try:
            for number, document in enumerate(documents(chunk.text, aliases, plain)):
                yield from _objects(variables, chunk, number, document, result)
        except NotReadable as error:
            if not variables.explain(error, chunk):
                result.problems.append(Notice(file.name, *chunk.position(error.offset), str(error)))
    if variables.message:
        result.problems.append(Notice(file.name, *variables.place, variables.message))


def _objects(variables: Variables, chunk: Chunk, number: int, document: Document, result: Result) -> Iterator[Obj]:
    file = variables.file
    within = list(items(document.tree))
    objects = [(path, item) for path, item in within if _is_object(item)]
    for path, item in objects:
        subject = variables.left_open(_object(document.tree, path, item), chunk)
        for below, inner in opened(subject):
            inner.origin = Origin(file, chunk, number, (*path, *below))
            yield inner
    if objects and document.faults:
        places = chunk.positions(fault.offset for fault in document.faults)
        for place, fault in zip(places, document.faults, strict=True):
            result.problems.append(Notice(file, *place, fault.message))
    elif not objects and document.tree is not None and not _is_object(document.tree):
        result.notes.append(Notice(file, *chunk.position(document.offset), _NO_OBJECT))
    elif others := len(within) - len(objects):
        message = f"has {len(within)} entries, {others} of them without apiVersion and kind, which were not checked"
        result.notes.append(Notice(file, *chunk.position(document.offset), message))


def _object(document: Tree, path: Path, item: Tree) -> Obj:
    if OBJECTS not in path:
        return Obj(item)
    tree, unknown = process(item, read(document, *path[:-2], "parameters"))  # before: objects, index
    return Obj(tree, unknown=unknown)


def _is_object(item: Tree) -> bool:
    return isinstance(item, dict) and all(
        isinstance(item.get(key), str) and item[key] for key in ("apiVersion", "kind")
    )


def _identity(subject: Obj) -> tuple[str, str, str, str]:
    return subject.group, subject.kind, subject.namespace, subject.name


def _findings(checker: Checker, subjects: Iterable[Obj], inventory: Inventory, result: Result) -> Iterator[Finding]:
    for subject in subjects:
        try:
            yield from checker.check([subject], inventory)
        except Exception as error:  # a fault of a rule must not hide what the others find elsewhere
            message = f"a rule failed: {errors.recorded_fault(error, f'checking {subject}')}"
            origin = cast("Origin", subject.origin)
            place = (origin.chunk.line, 1) if origin.chunk else (0, 0)
            result.problems.append(Notice(origin.file, *place, message))


def _located(findings: Iterable[Finding]) -> Iterator[Located]:
    documents_of: dict[tuple[int, int], list[Finding]] = defaultdict(list)
    for finding in findings:
        documents_of[id(finding.origin.chunk), finding.origin.document].append(finding)
    for (_, number), group in documents_of.items():
        origin: Origin = group[0].origin
        if origin.chunk is None:
            yield from (Located(origin.file, 0, 0, finding) for finding in group)
            continue
        paths = [(*finding.origin.path, *finding.path) for finding in group]
        starts = offsets(origin.chunk.text, number, set(paths))
        places = origin.chunk.positions(starts[path] for path in paths)
        for finding, place in zip(group, places, strict=True):
            yield Located(origin.file, *place, finding)


def _ended(exempt: Sequence[RuleException], today: date, severity: Severity | None) -> Iterator[Located]:
    if severity is None:
        return
    for finding in exceptions.expired(exempt, today):
        file, line = finding.origin
        yield Located(file, line, 1, finding._replace(severity=severity))


def _unused(exempt: Iterable[RuleException], tally: Tally) -> Iterator[Notice]:
    for entry in exceptions.unused(exempt, tally):
        yield Notice(*entry.place, 1, f"the {entry.name} is about no finding; delete it when nothing needs it")


def _nothing(names: Sequence[str]) -> Notice:
    others = f", nor do the other {len(names) - 1} that were named or found," if len(names) > 1 else ""
    return Notice(names[0], 1, 1, f"contains no Kubernetes object{others} so that nothing was checked")


def _order(located: Located) -> tuple[str, int, int, str, str]:
    return located.file, located.line, located.column, located.finding.rule, located.finding.message
