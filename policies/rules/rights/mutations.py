"""What changes other objects at admission or later: policies of Kyverno, mutators of Gatekeeper, admission policies.

Each comes with the kinds that it changes, in any of their forms: `Pod`, `v1/Pod`, `Pod/ephemeralcontainers`, `pods`.
Source: kyverno.io/docs/policy-types; open-policy-agent.github.io/gatekeeper/website/docs/mutation.
"""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from core.apis import kinds
from core.apis.kinds import MUTATING_WEBHOOK_CONFIGURATION, Kind
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.values import Path, Tree
from policies.rule import Rule, Severity
from policies.views.tenants import TENANTS, Tenancy, in_one_of

_KYVERNO = (
    Kind("kyverno.io", "v1", "ClusterPolicy", "clusterpolicies", "Cluster"),
    Kind("kyverno.io", "v1", "Policy", "policies"),
)
_KYVERNO_MUTATING = (
    Kind("policies.kyverno.io", "v1alpha1", "MutatingPolicy", "mutatingpolicies", "Cluster"),
    Kind("policies.kyverno.io", "v1alpha1", "NamespacedMutatingPolicy", "namespacedmutatingpolicies"),
)
_GATEKEEPER = tuple(
    Kind("mutations.gatekeeper.sh", "v1", kind, kind.lower())
    for kind in ("Assign", "AssignMetadata", "AssignImage", "ModifySet")
)
POLICIES = (kinds.MUTATING_ADMISSION_POLICY, *_KYVERNO, *_KYVERNO_MUTATING, *_GATEKEEPER)
"""Kinds whose objects say themselves how they change others."""
MUTATING = (kinds.MUTATING_WEBHOOK_CONFIGURATION, *POLICIES)
"""Kinds whose objects change others."""

_RULES: Path = ("spec", "matchConstraints", "resourceRules")
_MAKERS = frozenset(
    {"pod", "deployment", "statefulset", "daemonset", "job", "cronjob", "replicaset", "replicationcontroller"}
    | {"deploymentconfig", "podtemplate", "mpijob", "jobset", "trainjob", "trainingruntime", "clustertrainingruntime"}
    | {"leaderworkerset"}
)
_OTHERS = frozenset(
    {"pytorchjob", "tfjob", "rayjob", "raycluster", "appwrapper", "virtualmachine", "virtualmachineinstance"}
)
"""What makes pods, too, and has operators of its own, whose webhooks may change it."""
_LIMITS = frozenset(
    {"resourcequota", "clusterresourcequota", "limitrange", "role", "rolebinding", "clusterrole", "clusterrolebinding"}
    | {"securitycontextconstraint", "networkattachmentdefinition", "clusterqueue", "localqueue"}
    | {"workload", "resourceclaim", "resourceclaimtemplate", "deviceclass", "persistentvolume"}
)
_CONFINEMENT = ("run-level", "sa.scc.", "kueue.openshift.io/managed")
"""What in a change of namespaces takes limits away: labels and annotations of the SCCs, of Kueue."""
PODS, LIMITS, HARMLESS = "pods", "what limits tenants", "fields of pods"
"""What is changed: pods in what gives devices or rights, limits of tenants, or pods in anything else."""
_RISKY = re.compile(
    r"nvidia|rdma/|deviceclass|resourceclaim|runtimeclass|cdi\.k8s\.io|k8s\.v1\.cni|multus|kueue|queue-name|suspend"
    r"|hostpath|hostnetwork|hostpid|hostipc|hostusers|hostport|flexvolume|procmount|sysctl|serviceaccount|tolerations"
    r"|nodename|schedulername|priorityclass|ephemeralcontainers|selinux|unconfined|envfrom|schedulinggates"
    r"|(?:privileged|allowprivilegeescalation)\b(?:\.assign|\.value|\W)*true|runasuser\b(?:\.assign|\.value|\W)*0\b"
    r"|capabilities\W+(?:value\W+)?add|sys_admin|ipc_lock|securitycontext: none",
    re.IGNORECASE,
)
"""What a change says that gives devices, rights, another place or another order in queues."""
_CONDITIONS = ("(", "<(", "X(", "preconditions", "context", "list", "targets")
"""How keys begin that say of what Kyverno makes a change, and not what it writes."""
_GENERATE = "generate"
_COPIES = frozenset({"clone", "cloneList"})
"""Fields by which Kyverno generates a copy of another object, so that no manifest shows what is in it."""
_WRITING = ("mutations", "variables")
_PLURALS: Mapping[str, str] = {
    "network-attachment-definitions": "networkattachmentdefinition",
    "mutatingadmissionpolicies": "mutatingadmissionpolicy",
}


def changes(subject: Obj) -> Iterator[tuple[Path, str]]:
    """Yield what an object other than a webhook changes: the field that says so, and PODS, LIMITS or HARMLESS."""
    kind = (subject.group, subject.kind)
    if kind in _keys(_KYVERNO):
        yield from _kyverno(subject)
    elif kind in _keys(_GATEKEEPER):
        yield from _gatekeeper(subject)
    elif rules := [*subject.parts(*_RULES)]:
        named = [name for rule in rules for name in rule.entries("resources")]
        if changed := _changed_objects(named) or _namespaces(subject, named):
            is_expression = (
                subject.group == kinds.MUTATING_ADMISSION_POLICY.group
            )  # whose expressions hide what they write
            yield (
                _RULES,
                changed if is_expression else _graded(changed, [subject.read("spec", field) for field in _WRITING]),
            )
    elif subject.entries("spec", "mutations") and not subject.hidden(*_RULES):
        yield ("spec", "matchConstraints"), PODS


def of_webhook(rule: Part) -> str:
    """Return what a rule of a webhook matches: PODS, LIMITS, or nothing."""
    return _changed_objects(rule.entries("resources"), _MAKERS)


def _keys(objects: tuple[Kind, ...]) -> frozenset[tuple[str, str]]:
    return frozenset((kind.group, kind.kind) for kind in objects)


def _kyverno(policy: Obj) -> Iterator[tuple[Path, str]]:
    for rule in policy.parts("spec", "rules"):
        copied = rule.mapping(_GENERATE)
        kinds_copied = [copied.get("kind"), *rule.entries(_GENERATE, "cloneList", "kinds")]
        if not _COPIES.isdisjoint(copied) and _changed_objects(kinds_copied) == LIMITS:
            yield (*rule.path, _GENERATE), LIMITS
        if not rule.mapping("mutate"):
            continue
        targets = [*rule.parts("mutate", "targets")]
        named: list[object] = [target.text("kind") for target in targets] if targets else [*_matched(rule)]
        if changed := _changed_objects(named) or _namespaces(policy, named):
            yield (*rule.path, "mutate"), _graded(changed, rule.tree["mutate"])


def _matched(rule: Part) -> Iterator[object]:
    yield from rule.entries("match", "resources", "kinds")
    for field in ("any", "all"):
        for entry in rule.parts("match", field):
            yield from entry.entries("resources", "kinds")


def _gatekeeper(mutator: Obj) -> Iterator[tuple[Path, str]]:
    applied = [*mutator.parts("spec", "applyTo")]
    named = [name for entry in applied for name in entry.entries("kinds")]
    matched = [name for entry in mutator.parts("spec", "match", "kinds") for name in entry.entries("kinds")]
    named = named or matched or ["*"]
    if changed := _changed_objects(named) or _namespaces(mutator, named):
        change = {mutator.text("spec", "location"): mutator.read("spec", "parameters")}
        yield ("spec", "location"), _graded(changed, change)


def _changed_objects(named: list[object], makers: frozenset[str] = _MAKERS | _OTHERS) -> str:
    names = {_kind(name) for name in named if isinstance(name, str)}
    if any(name in makers or _matches(name, makers) for name in names):
        return PODS
    return LIMITS if names & _LIMITS else ""


def _graded(changed: str, change: Tree) -> str:
    return HARMLESS if changed == PODS and not any(_RISKY.search(text) for text in _written(change)) else changed


def _written(change: Tree) -> Iterator[str]:
    """Yield what a change writes, a line for each field and value, without the conditions under which it does."""
    waiting: list[tuple[str, Tree]] = [("", change)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, Mapping):
            fields = ((str(key), below) for key, below in value.items() if not str(key).startswith(_CONDITIONS))
            waiting.extend((f"{place}.{key}", below) for key, below in fields)
        elif isinstance(value, list):
            waiting.extend((place, entry) for entry in value)
        else:
            yield f"{place}: {value}"


def _namespaces(subject: Obj, named: list[object]) -> str:
    """Return LIMITS where namespaces are changed in what confines their pods."""
    if not any(isinstance(name, str) and _kind(name) == "namespace" for name in named):
        return ""
    written = str(subject.tree.get("spec"))
    return LIMITS if any(mark in written for mark in _CONFINEMENT) else ""


def _kind(name: str) -> str:
    """Return a kind or a plural, with or without group, version and subresource, as a kind in lower case."""
    parts = [part.partition(".")[0] for part in name.lower().split("/")]
    singular = [_PLURALS.get(part, part.removesuffix("s")) for part in parts]
    return next((part for part in reversed(singular) if part in _NAMES), singular[-1])


def _matches(name: str, makers: frozenset[str]) -> bool:
    return ("*" in name or "?" in name) and any(fnmatchcase(maker, name) for maker in makers)


_NAMES = _MAKERS | _OTHERS | _LIMITS | {"namespace"}


def _mutation_by_platform(subject: Obj, _: Inventory, parameters: Tenancy) -> Iterator[Violation]:
    if subject.kind != MUTATING_WEBHOOK_CONFIGURATION.kind:
        targets = [(place, target) for place, target in changes(subject) if target != HARMLESS]
        if targets and not parameters.excepts(subject):
            yield from (subject.violation(f"changes {target} at admission", *place) for place, target in targets)
        return
    for webhook in subject.parts("webhooks"):
        namespace = webhook.text("clientConfig", "service", "namespace")
        of_platform = bool(namespace) and in_one_of(namespace, parameters.exempt_namespaces)
        matched = {of_webhook(rule) for rule in webhook.parts("rules")}
        target = next((kind for kind in (PODS, LIMITS) if kind in matched), "")
        if target and not (of_platform or parameters.excepts(subject)):
            origin = f"in namespace {namespace}" if namespace else "outside the cluster"
            yield webhook.violation(f"lets a service {origin} change {target} at admission", "clientConfig")


MUTATION_BY_PLATFORM = Rule(
    name="mutation-by-platform",
    what="No mutating webhook changes pods, objects that create them, or what limits tenants (quotas, roles, bindings, "
    "SCCs, queues, networks), except those of the platform's own namespaces. No MutatingAdmissionPolicy, policy of "
    "Kyverno or mutator of Gatekeeper changes such limits, or pods in what gives devices, rights, another place or "
    "another order.",
    why="Mutation changes what the rules have checked: it can add a variable, a toleration, a device or another "
    "account to the pods of all tenants, and no manifest shows it. Only SCC admission runs again afterwards.",
    remedy=f"Delete it, or run its service in a namespace of the platform; {TENANTS}",
    source="P-5; kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers",
    severity=Severity.MANDATORY,
    parameters=Tenancy,
    examine=_mutation_by_platform,
    kinds=MUTATING,
)


def _mutation_reviewed(subject: Obj, _: Inventory, parameters: Tenancy) -> Iterator[Violation]:
    places = [place for place, target in changes(subject) if target == HARMLESS]
    if places and not parameters.excepts(subject):
        yield from (subject.violation("changes pods at admission", *place) for place in places)


MUTATION_REVIEWED = Rule(
    name="mutation-reviewed",
    what="No MutatingAdmissionPolicy, policy of Kyverno or mutator of Gatekeeper changes pods, or objects that create "
    "them, in any other field either: labels, images, arguments, sidecars.",
    why="What runs is not what was checked and reviewed. A label or an argument gives no device by itself, but it "
    "moves a pod to another network policy, or makes its program do something else.",
    remedy=f"Write the field into the manifests instead; {TENANTS}",
    source="P-5; kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers",
    severity=Severity.ADVISORY,
    parameters=Tenancy,
    examine=_mutation_reviewed,
    kinds=POLICIES,
)
