"""Arguments with which nodes start, whatever object sets them."""

import re
from collections.abc import Iterator

from core.apis.kinds import MACHINE_CONFIG, PERFORMANCE_PROFILE, TUNED
from policies.manifests.objects import Obj
from policies.manifests.values import Path

KINDS = (MACHINE_CONFIG, PERFORMANCE_PROFILE, TUNED)
"""The kinds that set arguments."""
_LISTS: dict[str, tuple[Path, ...]] = {
    MACHINE_CONFIG.kind: (("spec", "kernelArguments"), ("spec", "config", "kernelArguments", "shouldExist")),
    PERFORMANCE_PROFILE.kind: (("spec", "additionalKernelArgs"),),
}
_LONGEST = 1 << 14
_LINE = re.compile(r"^[ \t]*cmdline\w*[ \t]*=[ \t]*\+?([^-\n][^\n]*)$", re.MULTILINE)


def arguments(subject: Obj) -> Iterator[tuple[str, Path]]:
    """Yield the arguments that an object adds, and the field of each."""
    for place in _LISTS.get(subject.kind, ()):
        for index, argument in enumerate(subject.entries(*place)):
            for word in argument[:_LONGEST].split() if isinstance(argument, str) else ():
                yield word.strip("\"'"), (*place, index)
    for profile in profiles(subject):
        for line in _LINE.finditer(profile[0]):
            yield from ((word.strip("\"'"), profile[1]) for word in line[1].split())


def profiles(subject: Obj) -> Iterator[tuple[str, Path]]:
    """Yield the text of each profile of a Tuned, as far as its first 16 KiB go, and its field."""
    for profile in subject.parts("spec", "profile") if subject.kind == TUNED.kind else ():
        yield profile.text("data")[:_LONGEST], (*profile.path, "data")
