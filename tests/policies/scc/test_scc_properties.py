"""What holds for every pod."""

from collections.abc import Callable
from typing import Any, TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as some

from policies.scc import InvalidPod, default_sccs
from tests.policies.scc.samples import judge

Some: TypeAlias = some.SearchStrategy[Any]

SCCS = [{**found, "groups": ["system:authenticated"]} for found in default_sccs("upgraded")]
JUNK = (
    some.none()
    | some.booleans()
    | some.integers(-3, 2**70)
    | some.sampled_from(["", "x", "\x00"])
    | some.lists(some.none())
)
FLAG, IDS = some.none() | some.booleans(), some.sampled_from([None, 0, 1, 1000, 1000680000, 1000690000])
NAMES = some.lists(some.sampled_from(["ALL", "IPC_LOCK", "KILL", "NET_BIND_SERVICE"]), max_size=3)
PROFILES = some.sampled_from(["runtime/default", "unconfined", "localhost/p", "foo", ""])
ANNOTATIONS = {
    "seccomp.security.alpha.kubernetes.io/pod": PROFILES,
    "container.seccomp.security.alpha.kubernetes.io/a": PROFILES,
    "openshift.io/required-scc": some.sampled_from(["", "restricted-v2", "privileged", "missing"]),
}


def _fields(fields: dict[str, Some]) -> Some:
    return some.fixed_dictionaries({}, optional=fields)


def _or_junk(fields: dict[str, Some]) -> Some:
    return some.one_of(JUNK, *[_fields({key: value | JUNK for key, value in fields.items()})] * 9)


def _pods(make: Callable[[dict[str, Some]], Some]) -> Some:
    kinds = some.sampled_from(["RuntimeDefault", "Unconfined", "Localhost", "Other"])
    level = some.sampled_from(["s0:c26,c15", "s0:c15,c26", ""])
    both: dict[str, Some] = {
        "runAsUser": IDS,
        "runAsNonRoot": FLAG,
        "seLinuxOptions": make({"level": level}),
        "seccompProfile": make({"type": kinds, "localhostProfile": some.just("p")}),
    }
    flags: dict[str, Some] = dict.fromkeys(("privileged", "allowPrivilegeEscalation", "readOnlyRootFilesystem"), FLAG)
    container = make(
        {
            "name": some.sampled_from(["a", "b"]),
            "ports": some.lists(make({"hostPort": IDS, "containerPort": IDS}), max_size=1),
            "securityContext": make({**both, **flags, "capabilities": make({"add": NAMES, "drop": NAMES})}),
        }
    )
    volume = make({key: make({}) for key in ("emptyDir", "hostPath", "projected", "flexVolume")})
    security = make({**both, "fsGroup": IDS, "supplementalGroups": some.lists(IDS, max_size=2)})
    spec: dict[str, Some] = {
        **dict.fromkeys(("hostNetwork", "hostPID", "hostUsers"), FLAG),
        **{key: some.lists(container, max_size=2) for key in ("containers", "initContainers", "ephemeralContainers")},
        "serviceAccountName": some.just("default"),
        "volumes": some.lists(volume, max_size=2),
        "securityContext": security,
    }
    return make({"metadata": make({"annotations": make(ANNOTATIONS)}), "spec": make(spec)})


@settings(max_examples=100, deadline=None)
@given(_pods(_or_junk))
def test_no_pod_crashes(manifest: Any) -> None:
    """Any input gives a verdict, or the one error that names a field."""
    try:
        verdict = judge(manifest, *SCCS)
    except InvalidPod:
        return
    assert verdict.admitted is not bool(verdict.message)


@settings(max_examples=60, deadline=None)
@given(_pods(_fields))
def test_what_is_filled_in_is_enough(manifest: Any) -> None:
    """A filled-in pod is admitted again by its SCC, unchanged."""
    verdict = judge(manifest, *SCCS)
    if verdict.admitted:
        again = judge(verdict.pod, *SCCS)
        assert (again.scc, again.pod) == (verdict.scc, verdict.pod)
    else:
        assert verdict.message
        assert verdict.reasons
