"""Which outputs of a resource are secret: those whose inputs are."""

from typing import Any

from toolkit.engine.prediction.values import Secret, any_value


def has_secret(value: Any) -> bool:
    """Whether something in the value is secret."""
    return any_value(value, lambda item: isinstance(item, Secret))


def mark_secrets(outputs: Any, inputs: Any) -> Any:
    """Return the outputs with everything secret whose input was: objects field by field, a list as a whole.

    The `data` and `stringData` of a Secret, also of an embedded one where there are inputs, are secret in any case.
    """
    if not isinstance(outputs, dict):
        return outputs
    if outputs.get("kind") == "Secret":
        return {key: _secret(value) if key in ("data", "stringData") else value for key, value in outputs.items()}
    if not isinstance(inputs, dict):
        return outputs
    return {key: _marked(value, inputs[key]) if key in inputs else value for key, value in outputs.items()}


def _secret(value: Any) -> Secret:
    return value if isinstance(value, Secret) else Secret(value)


def _marked(output: Any, source: Any) -> Any:
    if isinstance(output, dict) and isinstance(source, dict):
        return mark_secrets(output, source)
    return _secret(output) if has_secret(source) else output
