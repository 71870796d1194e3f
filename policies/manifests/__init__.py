"""Objects of manifests, files and updates as the rules see them."""
