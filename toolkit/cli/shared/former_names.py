"""Names that commands and options had before, each with its present one."""

from collections.abc import Sequence

from toolkit.cli.shared.errors import UNJUDGED

NAMES = {
    "down": "destroy",
    "preview --repair": "drift --repairs",
    "preview": "pulumi preview",
    "plan": "hardware show",
    "place": "hardware fit",
    "machine": "hardware",
    "programs": "check --program FILE",
    "env": "pulumi --print-env",
    "kubeconfig": "ci kubeconfig",
    "comment": "ci comment",
    "policy-config": "ci policy-config",
    "parse": "verify --figures",
    "adopt": "state adopt",
    "split": "state split",
    "settings show": "settings",
    "verify --nodes": "nodes",
    "verify --profile": "verify --machine",
    "nodes --profile": "nodes --machine",
    "verify --history": "suite",
}
"""Former name -> present one; a name of two words is a command with a word behind it."""
_JUDGING = {"verify", "nodes", "machine"}
"""Commands whose status of a wrong option is UNJUDGED: their 2 is a judgement."""
_USAGE = 2


def current(arguments: Sequence[str]) -> str | None:
    """Return what a command line's command is called now; None where it has no former name."""
    further = {argument.partition("=")[0] for argument in arguments[1:]}
    for former, present in NAMES.items():
        command, _, word = former.partition(" ")
        if arguments[:1] == [command] and (not word or word in further):
            return f"`./hpc {former}` is now `./hpc {present}`."
    return None


def status(arguments: Sequence[str]) -> int:
    """Return the exit status of a command line with a former name."""
    return UNJUDGED if arguments[0] in _JUDGING else _USAGE
