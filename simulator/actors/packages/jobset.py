"""Red Hat's JobSet operator: it serves the kind JobSet. The controller is not simulated: a JobSet starts no job."""

from apis import kinds
from apis.kinds import Kind
from apis.logs import SIMULATED
from apis.operators.jobset import JOB_SET_OPERATOR, OPERATOR
from simulator.actors import pods
from simulator.actors.api import Object
from simulator.actors.conditions import stated
from simulator.actors.informer import Informer, Key
from simulator.actors.kueue import ISSUERS
from simulator.actors.package import (
    COMMON,
    NUMBER,
    TEXT,
    Bundle,
    Definition,
    Package,
    exactly,
    list_of,
    operates,
    structure,
)
from simulator.actors.podactor import PodActor
from simulator.actors.rbac import OWN, Rule

NAME = "cluster"
AGAIN_SECONDS = 1.0
NO_CONTROLLER = f"{SIMULATED}: the kind JobSet is served, and no controller starts its jobs"
_EVERY: Key = ("", "")
_LEVEL: Object = {"type": "string", "enum": ["", "Normal", "Debug", "Trace", "TraceAll"], "default": "Normal"}
_OVERRIDES: Object = structure() | {"nullable": True}
_SPEC = exactly(
    {
        "managementState": {"type": "string", "pattern": "^(Managed|Unmanaged|Force|Removed)$"},
        "logLevel": _LEVEL,
        "operatorLogLevel": _LEVEL,
        "observedConfig": _OVERRIDES,
        "unsupportedConfigOverrides": _OVERRIDES,
    }
)
_JOB = structure({"name": TEXT, "replicas": NUMBER, "template": structure()}, "name", "template")
JOB_SETS = Definition(
    Kind("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"), structure({"replicatedJobs": list_of(_JOB)})
)


class JobSetOperator(PodActor):
    """For the JobSetOperator `cluster`: the definition of JobSet, once cert-manager's kinds are there."""

    _resources: Informer

    def start(self) -> None:
        """Watch the custom resource."""
        self.say(NO_CONTROLLER)
        self._resources = self.watch(JOB_SET_OPERATOR, self.loop(self._reconcile), key=_EVERY)

    def _reconcile(self, _key: Key) -> float | None:
        resource = self._resources.get(NAME) if self._resources.synced else None
        if resource is None or pods.deleting(resource) or resource["spec"].get("managementState") != "Managed":
            return None
        if self.api.find(kinds.CUSTOM_RESOURCE_DEFINITION, ISSUERS) is None:
            self.say("E please make sure that cert-manager is installed on your cluster")
            return AGAIN_SECONDS
        # The definition belongs to the object: all JobSets go with it, as on a real cluster.
        self.make([(kinds.CUSTOM_RESOURCE_DEFINITION, JOB_SETS.manifest())], owner=resource)
        status: Object = {
            "conditions": stated(resource, {"Available": ("True", "AsExpected", NO_CONTROLLER)}),
            "observedGeneration": resource["metadata"]["generation"],
        }
        have = resource.get("status") or {}
        if have | status != have:
            self.api.patch(JOB_SET_OPERATOR, NAME, {"status": status}, sub="status")
        return None


def _bundle(version: str) -> Bundle:
    return Bundle(
        versions=(f"jobset-operator.v{version}",),
        definitions=(Definition(JOB_SET_OPERATOR, _SPEC),),
        account="jobset-operator",
        rules=(
            *COMMON,
            *operates(JOB_SET_OPERATOR),
            Rule((kinds.CUSTOM_RESOURCE_DEFINITION.group,), (kinds.CUSTOM_RESOURCE_DEFINITION.plural,), OWN),
        ),
        image=f"registry.redhat.io/job-set/jobset-rhel9-operator:v{version}",
        modes=frozenset({"OwnNamespace", "SingleNamespace"}),
    )


PACKAGES = (
    Package(
        name=OPERATOR.package,
        title="Job Set Operator",
        sources=("redhat-operators",),
        channels={"stable-v1.0": _bundle("1.0.0"), "tech-preview-v0.1": _bundle("0.1.0")},
    ),
)
ACTORS = ((frozenset({"jobset-rhel9-operator"}), "", JobSetOperator),)
