"""What runs on a cluster, as rows. Pure functions over plain objects."""
