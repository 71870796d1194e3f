"""`./hpc site`: files for what lies around the cluster, and how running configurations differ from them."""
