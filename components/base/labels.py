"""The recommended labels, which every object of the stack carries."""

PART_OF = "hpc"
MANAGED_BY = "app.kubernetes.io/managed-by"
RECOMMENDED = ("app.kubernetes.io/name", "app.kubernetes.io/component", "app.kubernetes.io/part-of", MANAGED_BY)


def labels(name: str, component: str) -> dict[str, str]:
    """Return the app.kubernetes.io labels of an object that belongs to `name`, in the part called `component`."""
    return dict(zip(RECOMMENDED, (name, component, PART_OF, "pulumi"), strict=True))
