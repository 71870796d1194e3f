"""What is compared with the cluster before an update, and before what shows one. It only reads."""
