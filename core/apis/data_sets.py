"""Names by which jobs, their logs and the reader of data sets agree (stacks/scripts/data_set.py)."""

TOOL = "hpc-data"
"""First word of every line that the reader prints, and the name of its output among tools."""
SCRIPT = "data_set.py"
"""File of stacks/scripts."""
LISTS = ".hpc/lists"
"""Folder of a data set's volume, from the set's own folder, with the lists of files."""
INDEX = "JOB_COMPLETION_INDEX"
"""Variable with the number of a pod's slice, from 0: the Job controller's own in Indexed Jobs."""
SLICES = "HPC_SLICES"
"""Variable with the number of slices."""
SLICE_LIST = "HPC_SLICE_LIST"
"""Variable with the path of the list of a pod's slice."""
NAME, DIGEST, ROOT, LIST = "HPC_DATA_NAME", "HPC_DATA_DIGEST", "HPC_DATA_ROOT", "HPC_DATA_LIST"
"""Variables of jobs that read a data set: its name, the digest of its list, its folder, and its list there."""


def list_path(digest: str) -> str:
    """Return where the list of a digest is, from the folder of the data set."""
    return f"{LISTS}/{digest}.list"
