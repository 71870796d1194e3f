"""The policy by which a plugin of GPU Operator 26.7 may write ResourceSlices of its own node alone.

Source: NVIDIA/gpu-operator v26.7.0, manifests/state-dra-driver/0700_resourceslices-policy.yaml.
"""

from core.apis import kinds
from toolkit.simulator.actors.api import VALIDATING_POLICY, VALIDATING_POLICY_BINDING
from toolkit.simulator.actors.grants import Grant
from toolkit.simulator.manifests import manifest

_WRITTEN = '(request.operation == "DELETE" ? oldObject : object).spec'
_VARIABLES = {
    "userNodeName": "request.userInfo.extra[?'authentication.kubernetes.io/node-name'][0].orValue('')",
    "objectNodeName": f'{_WRITTEN}.?nodeName.orValue("")',
    "nodeSelectorValue": f"{_WRITTEN}.?nodeSelector.orValue(null)",
    "allNodesValue": f"{_WRITTEN}.?allNodes.orValue(false)",
}
_NO_NODE = (
    "no node association found for user, this user must run in a pod on a node and ServiceAccountTokenPodNodeInfo must"
    " be enabled"
)


def policy(name: str, user: str) -> Grant:
    """Return the policy for a user, and its binding."""
    rule = {
        "apiGroups": [kinds.RESOURCE_SLICE.group],
        "apiVersions": ["v1", "v1beta1", "v1beta2"],
        "operations": ["CREATE", "UPDATE", "DELETE"],
        "resources": [kinds.RESOURCE_SLICE.plural],
    }
    of_own_node = (
        "variables.userNodeName == variables.objectNodeName || variables.allNodesValue == true ||"
        " variables.nodeSelectorValue != null"
    )
    refusal = '"this user running on node \'"+variables.userNodeName+"\' may not modify cluster or node resourceslices"'
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "matchConditions": [{"name": "isRestrictedUser", "expression": f'request.userInfo.username == "{user}"'}],
        "variables": [{"name": key, "expression": expression} for key, expression in _VARIABLES.items()],
        "validations": [
            {"expression": 'variables.userNodeName != ""', "message": _NO_NODE},
            {"expression": of_own_node, "messageExpression": refusal},
        ],
    }
    binding = {"policyName": name, "validationActions": ["Deny"]}
    return [
        (VALIDATING_POLICY, manifest(VALIDATING_POLICY, name, spec=spec)),
        (
            VALIDATING_POLICY_BINDING,
            manifest(VALIDATING_POLICY_BINDING, name, spec=binding),
        ),
    ]
