"""The context of a kubeconfig that a user names on a command line."""

from collections.abc import Mapping
from pathlib import Path

import yaml

from core.yaml import text as yaml_text
from toolkit.cli.shared.errors import Problem


def chosen(kubeconfig: Path, named: str | None) -> str:
    """Return the context to use: the named one, or the only one; the current context is never used.

    Raises Problem for a file that is not a kubeconfig, and where the context is not decided.
    """
    try:
        content = yaml_text.read(kubeconfig.read_text())
    except FileNotFoundError:
        raise Problem(f"there is no kubeconfig {kubeconfig}", "Correct --kubeconfig.") from None
    except (OSError, yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        # A parser's message quotes the line, and that may be a token.
        why = error.strerror if isinstance(error, OSError) else "it is not YAML"
        raise Problem(f"{kubeconfig} cannot be read: {why}", "Correct --kubeconfig.") from None
    entries = content.get("contexts") if isinstance(content, Mapping) else None
    listed = entries if isinstance(entries, list) else []
    names = [str(context["name"]) for context in listed if isinstance(context, Mapping) and "name" in context]
    if not names:
        raise Problem(f"{kubeconfig} has no context, so it is not a kubeconfig", "Correct --kubeconfig.")
    if named is None and len(names) == 1:
        return names[0]
    if named not in names:
        what = f"has no context {named!r}" if named else f"has {len(names)} contexts"
        raise Problem(f"{kubeconfig} {what}", f"Name one with --context: {', '.join(names)}.")
    return str(named)
