"""What a user does with InstallPlans of OLM."""

_APPROVED = '{"spec":{"approved":true}}'


def approval(namespace: str, name: str) -> str:
    """Return that an InstallPlan waits for a user, with the command."""
    return f"waits for a user's approval: `oc -n {namespace} patch installplan {name} --type merge -p '{_APPROVED}'`"
