"""Wait expressions: what the provider waits for before an object counts as done.

The provider evaluates the annotation `pulumi.com/waitFor` at every create and update of the object.
"""

import json
from collections.abc import Mapping, Sequence

from core.apis import names


def exists(path: str) -> str:
    """Wait until `path`, a JSONPath below the object such as `.status.installedCSV`, has a value."""
    return f"jsonpath={{{path}}}"


def equals(path: str, value: str) -> str:
    """Wait until `path` has `value`."""
    return f"jsonpath={{{path}}}={value}"


def state_ready() -> str:
    """Wait until one of NVIDIA's operators reports that all an object asks for runs."""
    return equals(".status.state", "ready")


def condition(kind: str) -> str:
    """Wait until the status condition `kind` is True."""
    return f"condition={kind}"


def any_condition(*kinds: str) -> str:
    """Wait until one of the status conditions is True; `condition=` can name only one."""
    either = " || ".join(f'@.type=="{kind}"' for kind in kinds)
    if len(kinds) > 1:
        either = f"({either})"
    return exists(f'.status.conditions[?({either} && @.status=="True")].type')


def installs(versions: str, *, automatic: bool) -> str:
    """Wait until OLM has installed what a Subscription is to have.

    `versions` is a regular expression for the name of the version, empty for any. If `automatic`, OLM must also have
    installed what it is about to, and know nothing later in the channel. A Subscription does not report which of its
    generations OLM has seen: right after a change of the channel its status is that of the former one, and only the
    name of the version distinguishes the two. The provider refuses a blank before the second `&&`, and `search` of a
    path that is absent ends it.
    """
    tests = ["@.installedCSV"]
    if versions:
        tests.append(f'search(@.installedCSV, "{versions}")')
    if automatic:
        tests += ["@.installedCSV == @.currentCSV", '@.state == "AtLatestKnown"']
    return exists(f"[?({'&&'.join(tests)})].installedCSV")


def wait_for(expressions: Sequence[str], *, timeout: int) -> dict[str, str]:
    """Return the annotations that make the provider wait for all `expressions`, at most `timeout` seconds."""
    value = expressions[0] if len(expressions) == 1 else json.dumps(list(expressions))
    return {names.WAIT_FOR: value, names.TIMEOUT_SECONDS: str(timeout)}


def expressions(annotations: Mapping[str, str]) -> list[str]:
    """Return the expressions that `wait_for` has put into an object's annotations."""
    value = annotations.get(names.WAIT_FOR, "")
    return json.loads(value) if value.startswith("[") else [value] if value else []


def at_most(timeout: int) -> dict[str, str]:
    """Return the annotation that bounds the provider's own wait for an object to `timeout` seconds."""
    return {names.TIMEOUT_SECONDS: str(timeout)}
