"""Verdicts as tables for users, and as JSON."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.apis.fields import root
from core.apis.kinds import POD
from policies.manifests.values import read
from policies.manifests.values import show as shown_path
from policies.scc import running_as
from policies.scc.seccomp import CONTAINER_ANNOTATION, POD_ANNOTATION, PROFILE
from policies.views.fields import Walk
from policies.views.placement import explain
from toolkit.cli.scc.cluster import Explained
from toolkit.cli.scc.remedies import LeastScc
from toolkit.cli.shared.console import console, print_parts, print_text, show_rows, styled
from toolkit.cli.shared.options import print_json

# Messages of the plugin about the pod, repeated at each of its containers.
_OF_THE_POD = re.compile(r"^\w+\[\d+\]\.(host(?:Network|PID|IPC): )")
_MOST_DROPPED = 20
_HOST_PORT = re.compile(r"^\w+\[\d+\]\.(\w+\[\d+\]\.hostPort: )")


def show(explanations: Sequence[Explained], *, plain: bool, verbose: bool) -> None:
    """Print verdicts: as JSON when `plain`, else as tables, with the plugin's own message when `verbose`."""
    if plain:
        print_json([as_json(explained) for explained in explanations])
        return
    for explained in explanations:
        print_tables(explained, verbose=verbose)


def as_json(explained: Explained) -> dict[str, Any]:
    """Return a verdict as plain data."""
    request, verdict = explained.request, explained.verdict
    return {
        "pod": request.title,
        "namespace": request.namespace.name,
        "serviceAccount": request.account,
        "user": request.user.name,
        "sccsOf": explained.source,
        "admitted": verdict.admitted,
        "scc": verdict.scc,
        "exempt": request.exempt,
        "examples": dict(request.examples),
        "droppedFields": [place for place, _ in _dropped(request.pod)],
        "order": list(explained.order),
        "reasons": [{"scc": reason.scc, "message": reason.message} for reason in verdict.reasons],
        "message": verdict.message,
        "wouldAdmitIfUsable": list(explained.fitting),
        "wouldAdmitWithItsIds": explained.elsewhere or None,
        "wouldAdmitWithout": [shown_path(place) for place in explained.left_out[1]] if explained.left_out else [],
        "leastScc": explained.least.manifest if explained.least else None,
        "notAmongTheFiles": explained.missing or None,
        "filledIn": dict(_added(request.pod, verdict.pod)),
        "admittedPod": verdict.pod if verdict.admitted else None,
    }


def print_tables(explained: Explained, *, verbose: bool) -> None:
    """Print what becomes of a pod: the SCCs in the order tried, then what was filled in, or what would help."""
    request, verdict = explained.request, explained.verdict
    outcome = styled("admitted", "green") if verdict.admitted else styled("refused", "bold red")
    by = (" by ", styled(verdict.scc, "bold")) if verdict.scc else ()
    other = request.user.name != running_as(request.namespace.name, request.account).name
    asker = f", created by {request.user.name}" if other else ""
    print_parts(
        f"{request.title}: ",
        outcome,
        *by,
        f" (namespace {request.namespace.name}, service account {request.account}{asker}; SCCs of {explained.source})",
    )
    for note in _notes(explained):
        print_text(f"note: {note}")
    if verdict.reasons or verdict.scc:
        show_rows("", ("SCC", "verdict"), _verdict_rows(explained))
    if verdict.scc:
        added = ((path, str(value)) for path, value in _added(request.pod, verdict.pod))
        show_rows("", ("filled in", "value"), added)
    lines = [*_remedies(explained)]
    if verbose and verdict.message:
        lines.append(f"OpenShift's message: {verdict.message}")
    for line in lines:
        print_text(line)
    if lines or not (verdict.reasons or verdict.scc):  # a table ends with an empty line
        console.print()


def _notes(explained: Explained) -> Iterator[str]:
    request, name = explained.request, explained.request.namespace.name
    if request.exempt:
        yield f"OpenShift evaluates no SCC in {name}: it is one of its own namespaces, or of run level 0 or 1"
        return
    if request.nameless:
        yield f"no namespace is named, so an ordinary one called {name} is assumed; --namespace names another"
    if request.examples:
        shown = ", ".join(f"{key}={value}" for key, value in request.examples.items())
        yield f"ids and levels are examples, since OpenShift allocates them and no file has them for {name}: {shown}"
    for place, message in _dropped(request.pod):
        yield f"the API server drops {place}: {message}"
    if explained.missing:
        yield f"the account is bound to {explained.missing}, which is not among the files and could change this"


def _dropped(pod: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the fields that a pod has and the API does not know: each place, and what is wrong with it."""
    for misfit in Walk(pod, root(POD.group, POD.kind), _MOST_DROPPED).misfits:
        if not misfit.problem:
            yield shown_path(misfit.path), explain(misfit)


def _verdict_rows(explained: Explained) -> Iterator[tuple[str, str]]:
    verdict, unusable = explained.verdict, explained.unusable
    for name in ("", *explained.order):
        messages = [reason.message for reason in verdict.reasons if reason.scc == name]
        if name in unusable:
            yield name, "not usable"
        elif messages:
            plain = (_plain(message, name, explained.request.pod) for message in messages)
            yield name or "(all)", "\n".join(dict.fromkeys(plain))
        elif name and name == verdict.scc:
            yield name, "admits it"
            return


def _remedies(explained: Explained) -> Iterator[str]:
    request, verdict = explained.request, explained.verdict
    if verdict.admitted:
        return
    if explained.elsewhere:
        yield f"would be admitted by {explained.elsewhere} if {request.namespace.name} had the ids that it asks for"
    if explained.left_out:
        scc, places = explained.left_out
        shown = ", ".join(dict.fromkeys(map(shown_path, places)))
        yield f"would be admitted by {scc} without {shown}: delete it where the program does without"
    fitting = [name for name in explained.fitting if name not in explained.privileged]
    privileged = [name for name in explained.fitting if name in explained.privileged]
    if fitting:
        yield f"would be admitted by: {', '.join(explained.fitting)}, if account {_account(explained)} might use it"
        yield f"e.g. {_grant(explained, fitting[0])}"
    elif explained.least:
        yield from _least(explained, explained.least)
        if privileged:
            yield f"{', '.join(privileged)} would admit it, too, and everything else that a pod can ask for"
    elif privileged:
        yield f"would be admitted by: {', '.join(privileged)}, if account {_account(explained)} might use it"
        yield f"e.g. {_grant(explained, privileged[0])}"
    elif explained.unusable and not explained.left_out:
        yield "would be admitted by no other SCC here, even if usable: request less"


def _least(explained: Explained, least: LeastScc) -> Iterator[str]:
    changes = "; ".join(f"{field}: {json.dumps(value).replace(chr(34), '')}" for field, value in least.changes.items())
    name = least.manifest["metadata"]["name"]
    yield f"would be admitted by an SCC of its own, {least.base} with {changes} (--json has it as leastScc)"
    yield f"called {name}, e.g.: {_grant(explained, name)}"


def _account(explained: Explained) -> str:
    return f"{explained.request.namespace.name}/{explained.request.account}"


def _grant(explained: Explained, scc: str) -> str:
    """Return how to let the account use an SCC."""
    namespace, account = explained.request.namespace.name, explained.request.account
    return (
        f"oc adm policy add-scc-to-user {scc} -z {account} -n {namespace}, or in a file a Role of {namespace} "
        f"with the verb use on securitycontextconstraints {scc}, and a RoleBinding of it to ServiceAccount {account}"
    )


def _plain(message: str, scc: str, pod: Mapping[str, Any]) -> str:
    """Return a reason without what the row shows already, and by the field that the user wrote."""
    text = message.removeprefix(f"provider {scc}: ").removeprefix(".")
    text = _HOST_PORT.sub(r"\1", _OF_THE_POD.sub(r"spec.\1", text))
    annotations = read(pod, "metadata", "annotations") or {}
    place = text.partition("pod.metadata.annotations[")[2].partition("]")[0]
    if not place or place in annotations:
        return text
    fault = text.partition("]: ")[2]
    if place == POD_ANNOTATION:
        return f"spec.securityContext.{PROFILE}: {fault}"
    return f"{PROFILE} of container {place.removeprefix(CONTAINER_ANNOTATION)}: {fault}"


def _added(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what `after` has beyond `before`, each value with its path."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key, value in after.items():
            yield from _added(before.get(key), value, f"{path}.{key}" if path else key)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _added(old, new, f"{path}[{index}]")
    elif isinstance(after, Mapping) and before is None and after:
        for key, value in after.items():
            yield from _added(None, value, f"{path}.{key}" if path else key)
    elif before != after and after not in ({}, None):
        yield path, after
