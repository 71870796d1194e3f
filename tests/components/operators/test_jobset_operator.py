"""JobSet as Red Hat's operator installs it."""

from typing import Any

from components.operators.jobset_operator import JobSetOperator, JobSetOperatorArgs
from core.apis.names import TIMEOUT_SECONDS, WAIT_FOR
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only
from tests.support.recorded import component, only_object


def jobset(**changed: Any) -> Manifest:
    """Return the object."""
    args = JobSetOperatorArgs.model_validate(changed)
    found = declared(lambda: JobSetOperator("jobset", args))
    assert faults(found) == []
    return only(found, "JobSetOperator")


def test_it_has_the_shape_of_its_definition() -> None:
    """The object matches its definition, and the operator acts on it."""
    expect_conformity(jobset())
    assert jobset()["metadata"]["name"] == "cluster"
    assert jobset()["spec"] == {"managementState": "Managed"}


def test_jobs_wait_until_the_controller_is_available() -> None:
    """The provider waits for the operator's condition, as long as the arguments say."""
    annotations = jobset(ready_timeout=77)["metadata"]["annotations"]
    assert (annotations[WAIT_FOR], annotations[TIMEOUT_SECONDS]) == ("condition=Available", "77")


def test_it_is_protected_where_that_is_wanted() -> None:
    """An update does not delete a protected object, with which all JobSets would go."""
    for protect in (True, False):
        args = JobSetOperatorArgs(protect=protect)
        recorded = component(lambda args=args: JobSetOperator("jobset", args))  # type: ignore[misc]
        assert bool(only_object(recorded, "JobSetOperator").protect) is protect
