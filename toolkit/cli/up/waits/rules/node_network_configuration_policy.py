"""NodeNetworkConfigurationPolicies of NMState: a node that cannot take one has rolled it back.

Source: nmstate/kubernetes-nmstate, api/shared/nodenetworkconfigurationpolicy_types.go and enactment conditions.
"""

from core.apis import kinds
from toolkit.cli.shared import metadata
from toolkit.cli.up.waits.generic import status
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, failing, met, reason_of, waiting

_POLICY = "nmstate.io/policy"


def judge(obj: Object, look: Look) -> Verdict:
    """Return how far a policy is."""
    if met(obj, "Available") is not None:
        return DONE
    if (condition := met(obj, "Degraded")) is not None:
        wrong = [
            reason_of(failure)
            for enactment in look(kinds.NODE_NETWORK_CONFIGURATION_ENACTMENT)
            if metadata.labels(enactment).get(_POLICY) == metadata.name(obj)
            and (failure := met(enactment, "Failing")) is not None
        ]
        return failing("; ".join([reason_of(condition), *wrong[:1]]), "Degraded")
    progressing = met(obj, "Progressing")
    return waiting(reason_of(progressing) if progressing else status(obj))


RULE = Rule(kinds.NODE_NETWORK_CONFIGURATION_POLICY.group, (kinds.NODE_NETWORK_CONFIGURATION_POLICY.kind,), judge)
