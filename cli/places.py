"""Where things are: the repository, and the Pulumi state in the home of a simulated cluster."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
POLICIES = ROOT / "policies"
PROJECT = "hpc"


@dataclass(frozen=True)
class Backend:
    """The Pulumi state of a simulated cluster, which lives and dies with it."""

    home: Path

    @property
    def folder(self) -> Path:
        """Folder of the file backend."""
        return self.home / "pulumi"

    @property
    def url(self) -> str:
        """URL of the file backend.

        Without `metadata=skip` each state file has a second one beside it, which is not written in one piece: an engine
        that is killed at that moment leaves a stack that no command can load any more.
        """
        return f"{self.folder.as_uri()}?metadata=skip"

    @property
    def pulumi_home(self) -> Path:
        """PULUMI_HOME: credentials and plugins, apart from the person's own."""
        return self.home / "pulumi-home"

    @property
    def log(self) -> Path:
        """What the engine printed during the last update."""
        return self.home / "logs" / "pulumi.log"

    def checkpoint(self, stack: str) -> Path:
        """Return the state file of a stack."""
        return self._checkpoints / f"{stack}.json"

    def checkpoints(self) -> list[Path]:
        """Return the state files of all stacks."""
        return sorted(self._checkpoints.glob("*.json"))

    @property
    def _checkpoints(self) -> Path:
        return self.folder / ".pulumi" / "stacks" / PROJECT

    def locks(self, stack: str) -> Path:
        """Return the folder of a stack's lock files."""
        return self.folder / ".pulumi" / "locks" / "organization" / PROJECT / stack
