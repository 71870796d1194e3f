"""The WSGI application: who may call, what is answered at once, and what becomes a job."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from toolkit.simulator.access import accounts
from toolkit.simulator.access.accounts import Account
from toolkit.simulator.object_store.files import Files
from toolkit.simulator.processes import https_server
from toolkit.simulator.scale_management import answers, reads
from toolkit.simulator.scale_management.calls import Call, FailedError, Home, RefusedError, invalid
from toolkit.simulator.scale_management.routes import AFM_STATE, CHANGES, ROUTES
from toolkit.simulator.scale_management.state import Job, State, Store, initial

JOBS = 500
"""Jobs that are remembered."""
FINISHED = "The request finished successfully."


@dataclass
class Service:
    """The REST interface over a state."""

    store: Store
    account: Account
    home: Home
    looks: int = 2
    """How often a job is RUNNING for a client that polls it."""
    page: int = reads.PAGE

    def respond(self, request: Request) -> Response:
        """Answer a request."""
        try:
            status, content, message = *self._answer(request), FINISHED
        except RefusedError as error:
            status, content, message = error.status, {}, str(error)
        except reads.QueryError as error:
            status, content, message = HTTPStatus.BAD_REQUEST, {}, str(invalid(str(error)))
        except HTTPException as error:
            status, content, message = HTTPStatus(error.code or HTTPStatus.INTERNAL_SERVER_ERROR), {}, error.name
        body = {"status": {"code": int(status), "message": message}, **content}
        response = Response(json.dumps(body), status, mimetype="application/json")
        response.headers["X-Simulated-By"] = "hpc"
        return response

    def _answer(self, request: Request) -> tuple[HTTPStatus, dict[str, Any]]:
        credentials = request.authorization
        if credentials is None or not self.account.matches(credentials.username, credentials.password):
            raise RefusedError("wrong user or password", HTTPStatus.UNAUTHORIZED)
        endpoint, names = ROUTES.bind_to_environ(request.environ).match()
        if (request.method, endpoint) in CHANGES:
            return HTTPStatus.ACCEPTED, self._submit(request, endpoint, names)
        if endpoint.startswith("/jobs"):
            return HTTPStatus.OK, self._jobs(request, names)
        call = Call(self.store.state, self.home, "", names)
        content = reads.read(call, endpoint, request, self.page)
        if endpoint == AFM_STATE:  # what is shown was there before the gateway nodes went on
            self.store.change(self._fetched)
        return HTTPStatus.OK, content

    def _submit(self, request: Request, endpoint: str, names: Mapping[str, Any]) -> dict[str, Any]:
        """Make a change, which is on disk with its job before it is acknowledged; return the job, still RUNNING."""
        change, body = CHANGES[request.method, endpoint], _body(request)
        change.check(body)
        now = time.strftime("%Y-%m-%d %H:%M:%S,000", time.gmtime())

        def act(state: State) -> State:
            call = Call(state, self.home, now, names, body, request.args.to_dict())
            number = state.next_job
            job = Job(id=number, method=request.method, url=request.path, data=body, submitted=now, looks=self.looks)
            update: dict[str, Any]
            try:
                done = change.act(call)
            except FailedError as error:
                after, update = state, {"stderr": (str(error),)}
            else:
                after, update = done.state, {"commands": done.commands, "stdout": done.stdout}
            numbered = after.model_copy(update={"next_job": number + 1})
            return numbered.with_job(job.model_copy(update=update), JOBS)

        after = self.store.change(act)
        submitted = after.jobs[max(after.jobs)]
        return {"jobs": [answers.job(submitted, running=True)]}

    def _jobs(self, request: Request, names: Mapping[str, Any]) -> dict[str, Any]:
        """Return jobs as they are; each poll brings the end of those that it shows nearer, and gateways go on."""
        state = self.store.state
        if "job" in names and names["job"] not in state.jobs:
            raise invalid("jobId")
        whole = request.args.get("fields") == reads.ALL
        chosen = [state.jobs[names["job"]]] if "job" in names else [*state.jobs.values()]
        content = reads.listed("jobs", [answers.job(job, whole=whole) for job in chosen], request, self.page)
        shown = {entry.get("jobId") for entry in content["jobs"]}
        self.store.change(lambda now: self._fetched(_polled(now, shown)))
        return content

    def _fetched(self, state: State) -> State:
        """Return the state after gateway nodes have fetched some more; itself where nothing is queued."""
        for file_system in state.file_systems.values():
            moved = answers.moved_on(file_system, self.home)
            if moved is not file_system:
                state = state.with_file_system(moved)
        return state


def _polled(state: State, shown: set[Any]) -> State:
    for job in state.jobs.values():
        if job.id in shown and job.running:
            state = state.with_job(job.model_copy(update={"looks": job.looks - 1}), JOBS)
    return state


def _body(request: Request) -> dict[str, Any]:
    """Return the body, a JSON object or nothing."""
    text = request.get_data(as_text=True)
    try:
        content = json.loads(text) if text else {}
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise RefusedError("the body is not JSON object")
    return content


def main() -> None:
    """Serve until the process is stopped."""
    parser = https_server.options()
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--account", type=Path, required=True)
    parser.add_argument("--objects", type=Path, required=True, help="folder of the object store: the home of caches")
    parser.add_argument("--cluster-id", required=True)
    parser.add_argument("--file-system", action="append", default=[])
    options = parser.parse_args()
    store = Store(options.state, initial(options.cluster_id, tuple(options.file_system)))
    objects = Files(options.objects)

    def home(bucket: str) -> Mapping[str, int] | None:
        if bucket not in objects.buckets():
            return None
        return {key: kept.size for key, kept in objects.latest(bucket).items()}

    service = Service(store, accounts.create(options.account), home)
    https_server.serve(service.respond, options, "GUI of Storage Scale", f"the state {options.state}")


if __name__ == "__main__":
    main()
