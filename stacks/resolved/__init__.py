"""What workloads are once all settings are known: layout, node, image, quota."""
