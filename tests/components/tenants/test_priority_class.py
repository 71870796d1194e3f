"""Priority classes."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.tenants.priority_class import PriorityClass, PriorityClassArgs
from tests.support.declared import declared, faults, only

ARGS: dict[str, Any] = {"class_name": "training", "value": 1000, "purpose": "training jobs of all tenants"}


def test_a_class_ends_no_running_job_and_is_nobodys_default() -> None:
    """A class preempts no running job, and is never the default."""
    found = declared(lambda: PriorityClass("training", PriorityClassArgs(**ARGS)))
    made = only(found, "PriorityClass")
    assert (made["preemptionPolicy"], made["globalDefault"], made["value"]) == ("Never", False, 1000)
    assert faults(found) == []


@pytest.mark.parametrize("wrong", [{"class_name": "system-training"}, {"value": 1_000_000_001}])
def test_names_and_values_of_the_system_are_refused(wrong: dict[str, Any]) -> None:
    """Names and values reserved for the system are refused."""
    with pytest.raises(ValidationError):
        PriorityClassArgs.model_validate({**ARGS, **wrong})
