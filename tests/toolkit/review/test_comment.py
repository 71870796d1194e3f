"""The comment of a pull request: within its limit, complete in what matters, and escaping what it quotes."""

import random
import re
from dataclasses import replace
from typing import Any

import pytest

from core.pulumi_values import REDACTED
from tests.support.comments import broken, tokens
from tests.support.reviews import created, made, review, same
from toolkit.review import comment, terminal
from toolkit.review.model import UNKNOWN, Change, Ending, Finding, Op, Resource, Review
from toolkit.review.sentences import name

HOSTILE = (
    "`",
    "``",
    "```",
    "````diff",
    "~~~",
    "</details>",
    "<details>",
    "<summary>",
    "<!-- hpc diff stack=x -->",
    "<!--",
    "-->",
    "<img src=x onerror=alert(1)>",
    "@everybody",
    "@org/team",
    "#12",
    "org/repo#3",
    "GH-7",
    "!5",
    "http://evil.example/a",
    "www.evil.example",
    "a@b.example",
    "[x](http://evil.example)",
    "![x](y)",
    "| a | b |",
    "**bold**",
    "_it_",
    "__x__",
    "\n",
    "\r\n",
    "\n\n# heading\n",
    "\n- item",
    "\n/close",
    "/approve",
    "\x00",
    "\x1b[31m",
    "\u202e",
    "\u200b",
    "\u2028",
    "\ud800",
    "\ue000",
    "\ue001",
    "&lt;",
    "&#64;x",
    "$x^2$",
    ":smile:",
    "\\",
    "\\`",
    "---",
    "===",
    "1.",
    "+",
    "-",
    ">",
    "\t",
    "    code",
    "é",
    "x" * 3000,
    " ",
    "",
    "'",
    '"',
    "{{x}}",
    "~x~",
    "***",
    "[^1]",
    "[ ]",
    "[x]",
    "<a@b.example>",
    "${x}",
    "%0A",
)
_KIND_NAMES = """
core/v1:Namespace core/v1:Secret core/v1:PersistentVolume core/v1:PersistentVolumeClaim batch/v1:Job
rbac.authorization.k8s.io/v1:Role rbac.authorization.k8s.io/v1:RoleBinding kubeflow.org/v2beta1:MPIJob
rbac.authorization.k8s.io/v1:ClusterRole rbac.authorization.k8s.io/v1:ClusterRoleBinding core/v1:NodePatch
security.openshift.io/v1:SecurityContextConstraints networking.k8s.io/v1:NetworkPolicy core/v1:ConfigMap
machineconfiguration.openshift.io/v1:MachineConfig operators.coreos.com/v1alpha1:Subscription
machineconfiguration.openshift.io/v1:MachineConfigPool machineconfiguration.openshift.io/v1:KubeletConfig
build.openshift.io/v1:BuildConfig nvidia.com/v1:ClusterPolicy mellanox.com/v1alpha1:NicClusterPolicy
storage.k8s.io/v1:StorageClass core/v1:ResourceQuota kueue.x-k8s.io/v1beta2:ClusterQueue apps/v1:Deployment
kueue.x-k8s.io/v1beta2:LocalQueue core/v1:ServiceAccount tuned.openshift.io/v1:Tuned
"""
_KINDS = _KIND_NAMES.split()
_FIELD_NAMES = """
spec rules subjects roleRef users groups allowedCapabilities priority volumes data stringData metadata labels
annotations name namespace kind apiGroups resources verbs resourceNames ingress from podSelector
namespaceSelector matchLabels policyTypes ports hard requests.nvidia.com/gpu template containers image limits
nvidia.com/gpu rdma/shared_ib0 channel driver version mpiReplicaSpecs Worker replicas claimRef volumeName
reclaimPolicy parameters storageClassName source config maxUnavailable machineConfigSelector uid_range mcs
runAsUser security.openshift.io/x pod-security.kubernetes.io/enforce output to strategy triggers type
"""
_FIELDS = _FIELD_NAMES.split()


def hostile(draw: random.Random) -> str:
    """Return a text that wants out."""
    return "".join(draw.choices(HOSTILE, k=draw.randint(1, 4)))


def tree(draw: random.Random, depth: int = 0) -> Any:
    """Return a value of a manifest."""
    choice = draw.random()
    if depth < 4 and choice < 0.45:
        keys = [draw.choice(_FIELDS) if draw.random() < 0.8 else hostile(draw) for _ in range(draw.randint(0, 4))]
        return {key: tree(draw, depth + 1) for key in keys}
    if depth < 4 and choice < 0.65:
        return [tree(draw, depth + 1) for _ in range(draw.randint(0, 3))]
    return draw.choice([hostile(draw), hostile(draw), 7, 1.5, True, None, UNKNOWN, REDACTED, "IPC_LOCK", 10**30])


def resource(draw: random.Random, number: int) -> Resource:
    """Return any resource."""
    found = {key: tree(draw, 1) for key in draw.choices(_FIELDS, k=3)}
    metadata = {"name": hostile(draw), "namespace": hostile(draw)} if draw.random() < 0.9 else tree(draw)
    kind = draw.choice(_KINDS) if draw.random() < 0.9 else f"x/v1:{hostile(draw)}"
    type_ = "hpc:tenants:Tenant" if draw.random() < 0.05 else f"kubernetes:{kind}"
    return Resource(
        f"urn:pulumi:x::hpc::{type_}::{number}", type_, {**found, "metadata": metadata}, protect=draw.random() < 0.2
    )


def change(draw: random.Random, number: int) -> Change:
    """Return any change."""
    op = draw.choice(list(Op))
    before = resource(draw, number)
    after = replace(resource(draw, number), urn=before.urn, type=before.type)
    forced = (hostile(draw), "spec.containers[0]") if op is Op.REPLACE else ()
    return Change(op, None if op is Op.CREATE else before, None if op in (Op.DELETE, Op.FORGET) else after, forced)


def random_review(seed: int) -> Review:
    """Return any review."""
    draw = random.Random(seed)  # noqa: S311
    findings = tuple(
        Finding(hostile(draw), draw.random() < 0.5, hostile(draw), hostile(draw), draw.choice((None, True, False)))
        for _ in range(draw.choice((0, 1, 5, 200)))
    )
    return Review(
        hostile(draw),
        tuple(change(draw, number) for number in range(draw.choice((0, 1, 5, 60)))),
        findings,
        tuple(hostile(draw) for _ in range(draw.choice((0, 2)))),
        draw.choice(("", hostile(draw), "\n  ".join(hostile(draw) for _ in range(30)))),
        unanswered=draw.choice(("", hostile(draw))),
        cautions=draw.choice(((), (f"An update by {name(hostile(draw))}.",))),
        ending=tuple(Ending(hostile(draw), hostile(draw), (hostile(draw),) * 4) for _ in range(draw.choice((0, 9)))),
        leftovers=tuple(resource(draw, number) for number in range(draw.choice((0, 9)))),
        cluster_queried=draw.random() < 0.5,
        drift=draw.random() < 0.2,
        compared=draw.choice((("", ""), (hostile(draw), hostile(draw)))),
    )


@pytest.mark.parametrize("seed", range(40))
def test_nothing_breaks_out(seed: int) -> None:
    """Mentions, block ends and HTML in a manifest stay text in the comment."""
    limit = random.Random(seed).choice((comment.LEAST, 20_000, 60_000))  # noqa: S311
    written = comment.write(random_review(seed), limit=limit)
    assert len(written) <= limit
    assert broken(written) == []
    blocks = [token.content.strip() for token in tokens(written) if token.type == "html_block"]
    assert sum("<details>" in block for block in blocks) == blocks.count("</details>")
    written.encode()


@pytest.mark.parametrize("seed", range(40, 52))
def test_a_terminal_is_safe(seed: int) -> None:
    """Control characters of a manifest do not reach the terminal."""
    shown = terminal.write(random_review(seed)).replace("\n", "")
    assert shown.isprintable()


def test_a_terminal_without_differences_is_the_beginning() -> None:
    """Beside a file the terminal gets all but the differences of single objects, which come last."""
    found = review(created(made("core/v1:ConfigMap", {"metadata": {"name": "a"}, "data": {"key": "value"}})))
    whole, part = terminal.write(found), terminal.write(found, differences=False)
    assert whole.startswith(part)
    assert ("key: value" in whole, "key: value" in part) == (True, False)


def test_the_first_line_finds_the_comment_again() -> None:
    """The hidden first line identifies the stack and cannot be closed by its name."""
    assert comment.write(review()).split("\n")[0] == "<!-- hpc diff stack=test -->"
    assert comment.marker("a--b -->") == "<!-- hpc diff stack=a%2D-b%20%2D-%3E -->"
    assert comment.marker("a--b") != comment.marker("a-b")


@pytest.mark.parametrize(
    ("found", "command"),
    [
        (Review("lab", ()), "diff"),
        (Review("lab", (), drift=True), "drift"),
        (Review("lab", (), adoption=True), "adopt"),
    ],
)
def test_commands_have_comments_of_their_own(found: Review, command: str) -> None:
    """Comments of drift and of adoption have markers of their own."""
    assert comment.write(found).startswith(f"<!-- hpc {command} stack=lab -->\n")


def test_nothing_changed_is_one_line() -> None:
    """A change without effects has no sections."""
    nothing = review(same(made("core/v1:ConfigMap", {"metadata": {"name": "a"}})))
    assert comment.write(nothing).split("\n")[3:] == ["Nothing changes.", ""]
    assert terminal.write(nothing) == "Change of stack test\nNothing changes.\n"
    assert "No drift: the cluster is as the last update left it." in comment.write(replace(nothing, drift=True))
    unsettled = comment.write(replace(nothing, drift=True, unsettled=True))
    assert "No drift" not in unsettled
    assert "could not be determined" in unsettled


def test_a_failure_comes_first() -> None:
    """An incomplete result is reported at the top."""
    lines = comment.write(review(failed="the engine\nwas killed")).split("\n")
    assert lines[3] == "⚠️ **The result is incomplete: the engine was killed**"


def test_several_reasons_are_a_list() -> None:
    """Several errors are a list, each once."""
    lines = comment.write(review(failed="Pulumi.x.yaml: 2 wrong\n  a: is -6\n  b: is missing\n  a: is -6")).split("\n")
    assert lines[3:7] == [
        "⚠️ **The result is incomplete: Pulumi.x.yaml: 2 wrong**",
        "",
        "- a: is -6",
        "- b: is missing",
    ]
    many = comment.write(review(failed="9 wrong" + "".join(f"\n  {n} " + "word " * 50 for n in range(40))))
    assert re.search(r"^- … \d+ more$", many, re.MULTILINE), "what is cut is reported"
    assert "does not answer. See whether" in comment.write(review(failed="it does not answer\nSee whether it runs."))


def test_a_failure_says_nothing_else() -> None:
    """A preview that failed before it saw an object does not report that no object changes."""
    made_ = created(made("hpc:tenants:Tenant", {}, "t"))
    assert "What changes could not be determined." in comment.write(review(made_, failed="the program failed"))


def test_what_to_know_first_is_at_the_top() -> None:
    """A cluster that was not queried, or an update in progress, is reported at the top."""
    found = review(
        cluster_queried=False,
        unanswered="the API server does not answer: refused\nSee whether it runs.",
        cautions=("An update is under way.",),
        ending=(Ending("PersistentVolume", "v", ("kubernetes.io/pv-protection",)),),
    )
    lines = comment.write(found).split("\n")
    assert lines[3].startswith(
        "⚠️ The cluster was not queried: the API server does not answer: refused. See whether it runs. This is"
    )
    assert lines[5:8:2] == [
        "⚠️ An update is under way.",
        "⚠️ `PersistentVolume` `v` is being deleted; it waits for finalizer `kubernetes.io/pv-protection`.",
    ]
    assert "two commits" not in comment.write(found)
    assert "! The cluster was not queried" in terminal.write(found)
    assert "No drift" not in comment.write(replace(found, drift=True))


def test_it_reports_that_the_cluster_was_not_queried() -> None:
    """A comparison of two commits is named as one."""
    found = comment.write(review(cluster_queried=False, compared=("1234567890abcdef", "b" * 40)))
    assert "The cluster was not queried" in found
    assert "## Change of stack `test`, `1234567890ab` to `bbbbbbbbbbbb`" in found


def test_what_is_cut_is_reported() -> None:
    """A shortened comment reports what was left out, and keeps its summary and findings."""
    maps = [
        created(made("core/v1:ConfigMap", {"metadata": {"name": f"m{n}"}, "data": {"x": "y " * 80}}))
        for n in range(500)
    ]
    role = made("rbac.authorization.k8s.io/v1:ClusterRole", {"metadata": {"name": "wide"}, "rules": []})
    findings = (Finding("gpu-limit", mandatory=True, message="too many", remedy="Ask for fewer"),)
    found = comment.write(review(*maps, created(role), findings=findings), limit=20_000)
    assert len(found) <= 20_000
    assert "501 objects: 501 created." in found
    assert "- ⚠️ `gpu-limit` (mandatory): too many. Ask for fewer." in found
    assert "<code>ClusterRole</code> <code>wide</code> created" in found, "what matters most is kept"
    shown = found.count("<code>ConfigMap</code>")
    left = f"the differences of {500 - shown} objects ({500 - shown} `ConfigMap` created)"
    assert (
        f"Left out to keep this comment within its limit: {left}; `./hpc diff --stack test` shows all of it." in found
    )


def test_lists_that_are_cut_are_reported() -> None:
    """Shortened sections count their hidden lines and alarms."""
    findings = tuple(Finding(f"rule-{n % 90}", mandatory=True, message=f"{n} " + "x" * 300) for n in range(9000))
    found = comment.write(review(findings=findings), limit=20_000)
    assert len(found) <= 20_000
    assert "Policy findings (9,000 mandatory: the update is refused)" in found
    assert re.search(r"- … \d+ more lines, \d+ of them marked ⚠️|  - … \d+ more", found)
    assert "Left out to keep this comment within its limit: lines of Policy findings; `./hpc diff" in found


def test_without_a_limit_nothing_is_left_out() -> None:
    """A review without a limit has every object, every line of its difference, and every line of the sections."""
    data = {f"key{n:03}": "x" * 80 for n in range(200)}
    maps = [made("core/v1:ConfigMap", {"metadata": {"name": f"c{n}"}, "data": data}) for n in range(9)]
    findings = tuple(Finding(f"rule-{n}", mandatory=True, message=f"{n} " + "x" * 300) for n in range(900))
    found = review(*map(created, maps), findings=findings)
    short, whole = comment.write(found), comment.write(found, limit=None)
    assert ("Left out" in short, "… more lines differ" in short) == (True, True)
    assert ("Left out" in whole, "… more" in whole) == (False, False)
    assert (whole.count("key199"), whole.count("(mandatory)")) == (9, 900)
    assert broken(whole) == []


def test_a_limit_that_cannot_be_kept_is_refused() -> None:
    """A limit below the smallest is refused."""
    with pytest.raises(ValueError, match="a limit of 100 characters is too small"):
        comment.write(review(), limit=100)


def test_order_of_fields_says_nothing() -> None:
    """The same change gives the same comment, whatever the order of fields."""
    fields = {"spec": {"b": 1, "a": [{"y": 1, "x": 2}]}, "metadata": {"name": "n", "labels": {"q": "1", "p": "2"}}}
    turned = {
        "metadata": {"labels": {"p": "2", "q": "1"}, "name": "n"},
        "spec": {"a": [{"x": 2, "y": 1}], "b": 1},
    }
    assert comment.write(review(created(made("x/v1:X", fields)))) == comment.write(
        review(created(made("x/v1:X", turned)))
    )
