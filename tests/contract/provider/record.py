"""Records the contract from the official provider: `python -m tests.contract.provider.record`."""

import json
import sys
import tempfile
from pathlib import Path

from tests.contract.provider import api_server, recorded
from tests.contract.provider.cases import load
from tests.contract.provider.plugin import Engine, Plugin, provider_in_use
from tests.contract.provider.runner import Runner
from tests.contract.provider.steps import IMPOSSIBLE


class NotOfficialError(Exception):
    """The provider in use is none to record from; the text says why, and what to do."""


def require_official(binary: Path, *, official: bool, schema: str) -> None:
    """Raise NotOfficialError for a provider that is not the official one, or was built without its schema."""
    if not official:
        raise NotOfficialError(
            f"the contract is recorded from the official provider, and the one in use is the stand-in {binary};"
            " put pulumi-resource-kubernetes on PATH, into ~/.pulumi/plugins or HPC_PLUGINS"
        )
    if not json.loads(schema).get("resources"):
        raise NotOfficialError(
            f"{binary} was built without its schema, so that its imports differ from those of a release;"
            " use a release, or build it with the schema"
        )


def main() -> None:
    """Run all cases and write their results."""
    binary = provider_in_use()
    engine = Engine()
    plugin = Plugin(binary.path, engine, {})
    try:
        require_official(binary.path, official=binary.official, schema=plugin.schema())
        version = plugin.version()
    except NotOfficialError as error:
        sys.exit(str(error))
    finally:
        plugin.stop()
        engine.stop()
    cases = load()
    home = Path(tempfile.mkdtemp(prefix="hpc-contract-"))
    with api_server.running(home) as api, Runner(binary.path, api, home) as runner:
        results = runner.run(cases)
    broken = [
        f"{name}: {steps[-1]}"
        for name, steps in results.items()
        if isinstance(steps[-1], dict) and IMPOSSIBLE in steps[-1]
    ]
    if broken:
        sys.exit("nothing was recorded, because these cases cannot be run to their end:\n" + "\n".join(broken))
    source = recorded.Source(provider=version, kubernetes=api_server.VERSION)
    recorded.save(source, cases, results)
    sys.stdout.write(f"recorded {len(cases)} cases from the provider {version}\n")


if __name__ == "__main__":
    main()
