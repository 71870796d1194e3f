"""The process of a simulated GUI of Storage Scale; the cluster starts it (`processes/command_lines.py`)."""

from collections.abc import Mapping
from pathlib import Path

from toolkit.simulator.access import accounts
from toolkit.simulator.object_store.files import Files
from toolkit.simulator.processes import https_server
from toolkit.simulator.scale_management.service import Service
from toolkit.simulator.scale_management.state import Store, initial


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
