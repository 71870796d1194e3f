"""The health rules of all stacks, and objects to judge by them."""

from functools import cache
from typing import Any

from components.base import waits
from components.jobs.outcome import Wait, job_annotations
from core.apis import kinds
from stacks.loading.settings import stack_names
from tests.support.recorded import ROOT
from toolkit.render import manifests
from toolkit.render.gitops.health import KindHealth, by_kind
from toolkit.render.gitops.waves import waves
from toolkit.simulator.provider.observations import Seen
from toolkit.simulator.provider.wait_annotation import wait_rule

Object = dict[str, Any]


def with_conditions(*types: str, status: str = "True", **more: Any) -> Object:
    """Return an object with conditions."""
    return {"status": {"conditions": [{"type": name, "status": status, **more} for name in types]}}


SOURCES = ("crio-memlock", "kernel-arguments", "rail-names")
SAMPLES: tuple[Object, ...] = (
    {},
    {"status": {}},
    {"status": {"conditions": []}},
    *(
        {"status": {"installedCSV": installed, "currentCSV": current, "state": state}}
        for installed in (
            "nfd.4.20.0",
            "gpu.v26.7.1",
            "gpu.v26.3.1",
            "gpu.v26.4.1",
            "kueue.v1.3.0",
            "kueue.v1.4.0",
            "jobset.v1.0.0",
        )
        for current in (installed, "later.v99.0.0")
        for state in ("AtLatestKnown", "UpgradePending")
    ),
    {"status": {"state": "ready"}},
    {"status": {"state": "notReady"}},
    {"status": {"state": "ready", "conditions": [{"type": "Ready", "status": "True", "reason": "Reconciled"}]}},
    {"status": {"state": "ready", "conditions": [{"type": "Ready", "status": "False", "reason": "Error"}]}},
    {"status": {"startTime": "2026-01-01T00:00:00Z"}},
    {"status": {"phase": "Bound"}},
    {"status": {"phase": "Pending"}},
    *(with_conditions(name) for name in ("Available", "Active", "Ready", "Success", "Complete", "Succeeded", "Failed")),
    with_conditions("Running"),
    with_conditions("Available", status="False"),
    with_conditions("Disabled", status="False"),
    with_conditions("Available", reason="SuccessfullyConfigured"),
    with_conditions("Available", observedGeneration=0),
    with_conditions("Available", observedGeneration=1),
    with_conditions("Available", observedGeneration=2),
    {"status": {"observedGeneration": 1, **with_conditions("Available")["status"]}},
    {"status": {"observedGeneration": 2, **with_conditions("Available")["status"]}},
    *({"status": {"jobsStatus": [{"name": "node", "active": count, "failed": 0}]}} for count in (0, 1)),
    {"webhooks": [{"clientConfig": {}}]},
    {"webhooks": [{"clientConfig": {"caBundle": "YQ=="}}]},
    {"status": {"tags": [{"tag": "latest", "items": [{"image": "sha256:1"}]}]}},
    *(
        {"status": {"tags": [{"tag": tag, "items": items}]}}
        for tag in ("24.03-tf2", "25.02-tf2", "23.03-tf1", "v0.6")
        for items in ([], [{"image": "sha256:1"}])
    ),
    *(
        {
            "status": {
                "configuration": {
                    "source": [
                        {"name": f"50-{pool}-{source}"} for pool in ("gpu", "worker") for source in SOURCES[:count]
                    ]
                    + [{"name": "99-gpu-generated-kubelet"}, {"name": "00-worker-ibm-spectrum-scale-kernel-devel"}]
                },
                **with_conditions("Updated", status=status)["status"],
            }
        }
        for count in range(len(SOURCES) + 1)
        for status in ("True", "False")
    ),
)
"""Objects of no particular kind: a rule reads its own fields."""


@cache
def rules() -> tuple[KindHealth, ...]:
    """Return the rules of all stacks, and of jobs that an update only sees start, one for each kind and expression."""
    every = {
        (health.kind, rule): health.api_version
        for stack in stack_names(ROOT)
        for members in waves(manifests.registrations(stack, first_preview=True)).members
        for health in by_kind(members)
        for rule in health.rules
    }
    for kind in (kinds.JOB, kinds.MPI_JOB_V2BETA1, kinds.TRAIN_JOB):
        started = job_annotations(kind, Wait.STARTED, timeout=1)
        every[kind.kind, tuple(waits.expressions(started))] = kind.api_version
    return tuple(
        KindHealth(api_version, kind, {rule: ("/any",)}) for (kind, rule), api_version in sorted(every.items()) if rule
    )


def live(sample: Object, generation: int = 2) -> Object:
    """Return a sample as the API server would have it."""
    return {"metadata": {"name": "any", "generation": generation}, **sample}


def holds(rule: tuple[str, ...], obj: Object) -> bool:
    """Return whether the provider would go on."""
    wait = wait_rule({"metadata": {"annotations": waits.wait_for(rule, timeout=1)}})
    assert wait is not None
    return wait(Seen(obj)).ready
