"""OpenShift's builds: a BuildConfig that is new and says so is built once, and its ImageStream gets the tag.

No image is made and no pod runs: a build takes the seconds of a job, and succeeds unless a step of its Containerfile is
known to fail by itself (`RUN false`, `RUN exit 1`). Source of phases and reasons: openshift/api, build/v1.
"""

import hashlib
import logging
import re
from datetime import UTC, datetime

from core.apis import kinds
from toolkit.simulator import names, pods
from toolkit.simulator.actors.api import ApiError, Object, now
from toolkit.simulator.actors.informer import Informer, Key, Loop
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.manifests import manifest, owner_reference, simulated_by

log = logging.getLogger(__name__)

AGAIN = 0.5
"""Seconds after which a build is tried again whose name is not free yet."""
CONFIG_LABEL, NUMBER = "openshift.io/build-config.name", "openshift.io/build.number"
_INSTRUCTION = re.compile(
    r"^\s*(?P<word>FROM|RUN|COPY|ADD|ENV|ARG|WORKDIR|USER|LABEL)\s+(?P<rest>.*?)\s*$", re.IGNORECASE
)
_FAILS = re.compile(r"^(?:false|exit (?P<code>[1-9]\d*))$")


class Builds:
    """Works on one BuildConfig or Build at a time, with the account of the build controller."""

    def __init__(self, runtime: Runtime) -> None:
        self._api = runtime.identity("builds")
        self._seconds = runtime.settings.run_seconds
        self._loop = Loop("builds", self._reconcile)
        self._configs = self._watch(kinds.BUILD_CONFIG)
        self._builds = self._watch(kinds.BUILD)

    def start(self) -> None:
        """Start."""
        for cache in (self._configs, self._builds):
            cache.start()
        self._loop.start()

    def _watch(self, kind: kinds.Kind) -> Informer:
        return Informer(self._api, kind, lambda key, *_: self._loop.add(key), listed=self._wake)

    def _wake(self) -> None:
        for obj in (*self._configs.items(), *self._builds.items()):
            self._loop.add((obj["metadata"]["namespace"], obj["metadata"]["name"]))

    def _reconcile(self, key: Key) -> float | None:
        if not (self._configs.synced and self._builds.synced):
            return None  # the last list to come wakes it
        config, build = self._configs.get(key[1], key[0]), self._builds.get(key[1], key[0])
        if config is not None and not pods.deleting(config) and begins(config) and not self._begin(config):
            return AGAIN
        return self._advance(build) if build is not None and not pods.deleting(build) else None

    def _begin(self, config: Object) -> bool:
        """Make the build of a new BuildConfig; return False while one of an earlier BuildConfig has its name."""
        meta, build = config["metadata"], new(config)
        try:
            self._api.create(kinds.BUILD, build, meta["namespace"])
        except ApiError as error:
            if not error.conflict:
                raise
            existing = self._api.find(kinds.BUILD, build["metadata"]["name"], meta["namespace"])
            if existing is None or existing["metadata"].get("ownerReferences") != build["metadata"]["ownerReferences"]:
                return False
        status = {"status": {"lastVersion": 1}}
        self._api.patch(kinds.BUILD_CONFIG, meta["name"], status, meta["namespace"], sub="status")
        return True

    def _advance(self, build: Object) -> float | None:
        """Take a build one step on; return when the next is due."""
        status = build.get("status") or {}
        if status.get("phase") not in (None, "New", "Pending", "Running"):
            return None
        if status.get("phase") != "Running":
            self._set_status(build, {"phase": "Running", "startTimestamp": now()})
            return self._seconds
        passed = (datetime.now(UTC) - datetime.fromisoformat(status["startTimestamp"])).total_seconds()
        if passed < self._seconds:
            return self._seconds - passed
        end = ended(build)
        if end["phase"] == "Complete":
            self._fill(build)
        self._set_status(build, {**end, "completionTimestamp": now()})
        return None

    def _fill(self, build: Object) -> None:
        """Give the stream its tag, as a push to the cluster's registry does."""
        output, namespace = build["spec"]["output"]["to"], build["metadata"]["namespace"]
        if output["kind"] != "ImageStreamTag":
            return
        stream, _, tag = output["name"].partition(":")
        digest = f"sha256:{hashlib.sha256(repr(sorted(build['spec'])).encode()).hexdigest()}"
        image_stream = self._api.get(kinds.IMAGE_STREAM, stream, namespace)
        kept = [entry for entry in (image_stream.get("status") or {}).get("tags") or [] if entry["tag"] != tag]
        tags = [*kept, {"tag": tag, "items": [{"created": now(), "image": digest}]}]
        self._api.patch(kinds.IMAGE_STREAM, stream, {"status": {"tags": tags}}, namespace, sub="status")

    def _set_status(self, build: Object, status: Object) -> None:
        meta = build["metadata"]
        self._api.patch(kinds.BUILD, meta["name"], {"status": status}, meta["namespace"], sub="status")
        log.info("%s/%s is %s", meta["namespace"], meta["name"], status["phase"])


def begins(config: Object) -> bool:
    """Return whether a BuildConfig is built by itself: the trigger ConfigChange acts on a new one alone."""
    triggers = [trigger.get("type") for trigger in config["spec"].get("triggers") or []]
    return "ConfigChange" in triggers and not (config.get("status") or {}).get("lastVersion")


def new(config: Object) -> Object:
    """Return the first build of a BuildConfig."""
    meta = config["metadata"]
    return manifest(
        kinds.BUILD,
        f"{meta['name']}-1",
        meta["namespace"],
        labels={CONFIG_LABEL: meta["name"]},
        annotations={NUMBER: "1", **simulated_by("build controller")},
        owners=[owner_reference(config)],
        spec={key: config["spec"][key] for key in ("source", "strategy", "output") if key in config["spec"]},
    )


def ended(build: Object) -> Object:
    """Return the status of a build at its end."""
    text = str((build["spec"].get("source") or {}).get("dockerfile") or "")
    steps = [instruction for line in text.splitlines() if (instruction := _INSTRUCTION.match(line))]
    for number, step in enumerate(steps, start=1):
        wrong = _FAILS.match(step["rest"]) if step["word"].upper() == "RUN" else None
        if wrong:
            step_run = f"RUN {step['rest']}"
            code = wrong["code"] or "1"
            return {
                "phase": "Failed",
                "reason": "DockerBuildFailed",
                "message": "Dockerfile build strategy has failed.",
                "logSnippet": f"[{names.PREFIX}simulated] STEP {number}/{len(steps)}: {step_run}\nerror: build error: "
                f'building at STEP "{step_run}": while running runtime: exit status {code}',
            }
    return {"phase": "Complete"}
