"""One case on its way: its steps in order, each with the requests that the engine would send."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pulumi.runtime.proto import provider_pb2

from tests.contract.provider import operations
from tests.contract.provider.api_changes import ApiChanges
from tests.contract.provider.api_server import ApiServer, wait_until
from tests.contract.provider.cases import Case
from tests.contract.provider.kubeconfigs import Kubeconfigs
from tests.contract.provider.operations import RefusedError, Resource, State, merged
from tests.contract.provider.plugin import Engine, Plugin
from tests.contract.provider.wire import decode, encode

IMPOSSIBLE = "impossible"
_MODIFIERS = frozenset({"of", "timeout", "meanwhile", "ignore", "autonaming", "brief"})
_AUTONAMING = provider_pb2.CheckRequest.AutonamingOptions
_SETTLED = 0.25
"""Seconds between what a wait looks at first and what a case changes meanwhile."""


@dataclass
class Step:
    """One step: an operation with its argument on a resource, options, and what came of it so far."""

    name: str
    argument: Any
    resource: Resource
    options: Mapping[str, Any]
    result: dict[str, Any] = field(default_factory=dict)

    @property
    def timeout(self) -> float:
        """Seconds of the resource's customTimeouts; 0 without."""
        return float(self.options.get("timeout", 0))

    @property
    def ignore(self) -> list[str]:
        """Paths of ignoreChanges."""
        return list(self.options.get("ignore") or [])


class CaseRun:
    """One case on its way."""

    def __init__(self, case: Case, api: ApiServer, plugin: Plugin, engine: Engine, files: Kubeconfigs) -> None:
        self.plugin = plugin
        self._case, self._engine, self._files = case, engine, files
        self._changes = ApiChanges(api)
        self._resources = {"": self._resource("thing", case.type, case.inputs)}
        for name, other in case.others.items():
            self._resources[name] = self._resource(name, other.type, other.inputs)

    def _resource(self, name: str, token: str, inputs: Mapping[str, Any]) -> Resource:
        return Resource(f"urn:pulumi:test::{self._case.name}::{token}::{name}", token, dict(inputs))

    def steps(self) -> Iterator[Any]:
        """Take the steps one after another; a step that the ones before made impossible is the last."""
        for step in self._case.steps:
            try:
                yield self.take(step)
            except (AssertionError, TimeoutError, KeyError) as error:
                yield {IMPOSSIBLE: f"{type(error).__name__}: {error}"}
                return

    def take(self, given: Mapping[str, Any]) -> Any:
        """Take one step; return its result."""
        names = [key for key in given if key not in _MODIFIERS]
        assert len(names) == 1, f"a step is one operation, not {names}"
        step = Step(names[0], given[names[0]], self._resources[given.get("of", "")], given)
        if self._changes.knows(step.name):
            return self._changes.take(step.name, step.argument, step.resource)
        meanwhile = _Meanwhile(self.take, self._changes, step)
        meanwhile.start()
        try:
            getattr(self, f"_{step.name}")(step)
        except RefusedError as error:
            step.result["refused"] = error.answer
            _keep_partial(step.resource, error.partial)
        meanwhile.finish()
        if given.get("brief"):
            _without_outputs(step.result)
        if said := self._engine.take(step.resource.urn):
            step.result["messages"] = said
        return step.result

    # What the engine asks for

    def _checked(self, step: Step, *, fresh: bool = False) -> bool:
        """Give the resource the step's patch of its inputs, and check them."""
        autonaming = _AUTONAMING(**step.options["autonaming"]) if step.options.get("autonaming") else None
        if not fresh:
            step.resource.news = merged(step.resource.news, step.argument or {})
        answer = operations.check(self.plugin, step.resource, fresh=fresh, autonaming=autonaming)
        step.result["check"] = answer
        return "failures" not in answer

    def _check(self, step: Step) -> None:
        self._checked(step)

    def _preview(self, step: Step) -> None:
        kept = step.resource.news
        if self._checked(step):
            if step.resource.state is None:
                step.result["preview"] = self._created(step, preview=True)
            elif self._updates(step):
                step.result["preview"] = self._updated(step, preview=True)
        step.resource.news = kept

    def _create(self, step: Step) -> None:
        if self._checked(step):
            step.result["preview"] = self._created(step, preview=True)
            step.result["create"] = self._created(step, preview=False)

    def _make(self, step: Step) -> None:
        """As create, with only its id recorded: what comes of it other cases record."""
        if self._checked(step):
            step.result.clear()
            step.result["made"] = self._created(step, preview=False)["id"]

    def _update(self, step: Step) -> None:
        if self._checked(step) and self._updates(step):
            step.result["preview"] = self._updated(step, preview=True)
            step.result["update"] = self._updated(step, preview=False)

    def _diff(self, step: Step) -> None:
        kept = step.resource.news
        if self._checked(step):
            step.result.pop("check")
            self._updates(step)
        step.resource.news = kept

    def _replace(self, step: Step) -> None:
        if not self._checked(step):
            return
        assert not self._updates(step), f"the change does not replace: {step.result['diff']}"
        resource = step.resource
        old = Resource(resource.urn, resource.type, resource.news, resource.checked, resource.state)
        first = step.result["diff"].get("deleteBeforeReplace", False)
        if first:
            step.result["delete"] = operations.delete(self.plugin, old, timeout=step.timeout)
        self._checked(step, fresh=True)
        step.result["preview"] = self._created(step, preview=True)
        step.result["create"] = self._created(step, preview=False)
        if not first:
            step.result["delete"] = operations.delete(self.plugin, old, timeout=step.timeout)

    def _refresh(self, step: Step) -> None:
        step.result["read"] = operations.read(self.plugin, step.resource, None)

    def _import(self, step: Step) -> None:
        step.result["read"] = operations.read(self.plugin, step.resource, step.argument)

    def _delete(self, step: Step) -> None:
        step.result["delete"] = operations.delete(self.plugin, step.resource, timeout=step.timeout)

    def _created(self, step: Step, *, preview: bool) -> dict[str, Any]:
        return operations.create(self.plugin, step.resource, preview=preview, timeout=step.timeout)

    def _updates(self, step: Step) -> bool:
        """Ask what would change; say whether that is an update in place."""
        found = step.result["diff"] = operations.diff(self.plugin, step.resource, step.ignore)
        return bool(found["changes"] == "some" and "replaces" not in found)

    def _updated(self, step: Step, *, preview: bool) -> dict[str, Any]:
        return operations.update(self.plugin, step.resource, preview=preview, timeout=step.timeout, ignore=step.ignore)

    # The provider's own configuration

    def _check_config(self, step: Step) -> None:
        request = provider_pb2.CheckRequest(urn=self._provider_urn(), news=encode(self._files.filled(step.argument)))
        answer = operations.call(self.plugin, "CheckConfig", request)
        step.result["inputs"] = decode(answer.inputs)
        if failures := sorted(f"{failure.property}: {failure.reason}" for failure in answer.failures):
            step.result["failures"] = failures

    def _diff_config(self, step: Step) -> None:
        old, new = (encode(self._files.filled(step.argument[key])) for key in ("old", "new"))
        request = provider_pb2.DiffRequest(urn=self._provider_urn(), olds=old, old_inputs=old, news=new)
        step.result.update(operations.diff_answer(operations.call(self.plugin, "DiffConfig", request)))

    def _configure(self, step: Step) -> None:
        self.plugin.stop()
        environment = self._files.filled(self._case.provider.environment)
        self.plugin = Plugin(self.plugin.binary, self._engine, environment)
        step.result.update(operations.configured(self.plugin, self._files.filled(step.argument)))

    def _provider_urn(self) -> str:
        return f"urn:pulumi:test::{self._case.name}::pulumi:providers:kubernetes::thing"


def _keep_partial(resource: Resource, partial: State | None) -> None:
    """Keep what exists of a resource although a request was refused, as the engine does."""
    if partial and resource.state:
        resource.state = State(resource.state.id, partial.inputs or resource.checked, partial.outputs)
    elif partial and partial.id:
        resource.state = State(partial.id, partial.inputs or resource.checked, partial.outputs)


def _without_outputs(result: dict[str, Any]) -> None:
    """Leave outputs out: the provider takes them from whichever event it sees first."""
    for name in ("create", "update"):
        if name in result:
            result[name].pop("properties")


class _Meanwhile:
    """Changes that are made while the provider works on a request: once it has created or changed the object."""

    def __init__(self, take: Callable[[Mapping[str, Any]], Any], changes: ApiChanges, step: Step) -> None:
        self._take, self._changes, self._step = take, changes, step
        self._steps: list[dict[str, Any]] = step.options.get("meanwhile") or []
        self._before: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Start to look for the object."""
        if self._steps:
            self._before = self._changes.live(self._step.resource)
            self._thread.start()

    def finish(self) -> None:
        """Wait for the changes; raise what they ended with."""
        if self._steps:
            self._thread.join()
        if self._error:
            raise self._error

    def _work(self) -> None:
        try:
            wait_until(self._begun, f"{self._step.name} of {self._step.resource.urn}", 30)
            time.sleep(_SETTLED)
            for step in self._steps:
                self._take(step)
        except BaseException as error:
            self._error = error

    def _begun(self) -> bool:
        live = self._changes.live(self._step.resource)
        if live is None:
            return False
        if self._step.name == "delete":
            return "deletionTimestamp" in live["metadata"]
        if self._before is None:
            return True
        key = "generation" if "generation" in live["metadata"] else "resourceVersion"
        return bool(live["metadata"][key] != self._before["metadata"].get(key))
