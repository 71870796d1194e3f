"""Red Hat's JobSet operator; the controller that it starts is the real one."""

from core.apis.operators.jobset import JOB_SET_OPERATOR, OPERATOR
from toolkit.simulator.actors import images
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.jobset import OPERATOR_RULES, JobSetManager, JobSetOperator
from toolkit.simulator.actors.package import COMMON, Bundle, Definition, Package, exactly, operates, structure

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


def _bundle(version: str) -> Bundle:
    return Bundle(
        versions=(f"jobset-operator.v{version}",),
        definitions=(Definition(JOB_SET_OPERATOR, _SPEC),),
        account="jobset-operator",
        rules=(*COMMON, *operates(JOB_SET_OPERATOR), *OPERATOR_RULES),
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
ACTORS = (
    (images.JOBSET_OPERATORS, "", JobSetOperator),
    (images.JOBSET_MANAGERS, "/manager", JobSetManager),
)
