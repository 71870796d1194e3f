"""One comment on a pull request or merge request, that is edited and not repeated."""
