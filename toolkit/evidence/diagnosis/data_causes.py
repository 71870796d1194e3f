"""Known causes of data sets that are absent, differ from their lock, or are not in the cache."""

from toolkit.evidence.diagnosis.cause import DATA, Cause

DATA_CAUSES: tuple[Cause, ...] = (
    Cause(
        name="list-missing",
        shows=r"hpc-data error kind=list-missing",
        why="the list of the data set's files is not on its volume",
        remedy="copy the list from `./hpc data select` to .hpc/lists/<digest>.list on the volume of `data_sets`, or on "
        "its source if the volume is a cache (docs/guide/data.md)",
        explains=DATA,
    ),
    Cause(
        name="data-digest-differs",
        shows=r"hpc-data error kind=(?:digest-differs|counts-differ|slice-differs)",
        why="the list on the volume, or a slice of it, differs from the lock",
        remedy="select the data set again (`./hpc data select`), commit its lock, copy the list to the volume of "
        "`data_sets`, and stage the set",
        explains=DATA,
    ),
    Cause(
        name="label-missing",
        shows=r"hpc-data error kind=files-missing \S+ first=\S*label",
        why="frames of the data set have no labels",
        remedy="add the labels to the source of `data_sets`, or index and select again without these frames",
        explains=DATA,
    ),
    Cause(
        name="data-files-gone",
        shows=r"hpc-data error kind=files-(?:missing|differ)",
        why="files of the data set have been removed or changed since it was locked",
        remedy="restore them at the source of `data_sets`, or index and select again",
        explains=DATA,
    ),
    Cause(
        name="slice-missing",
        shows=r"hpc-data error kind=slice-missing",
        why="a slice wrote no proof to the results that the reducer reads",
        remedy="mount the same writable volume at `results` for all pods, and raise `run`",
        explains=DATA,
    ),
    Cause(
        name="not-cached",
        shows="",
        why="nothing of the data set is in the cache when the job starts",
        remedy="raise `run` of the workload of kind stage-data, and make sure that it finishes before the job starts",
        explains=frozenset({"data-set"}),
        ends=False,
    ),
    Cause(
        name="evicted",
        shows="",
        why="files of the data set were evicted from the cache, or only partly fetched, since it was staged",
        remedy="raise `capacity` of the volume, and the soft quota of the cache, above the bytes of all sets on it, "
        "and stage again (raise `run`)",
        explains=frozenset({"data-set", "data-staged"}),
        ends=False,
    ),
)
