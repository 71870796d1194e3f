"""Hardware as data: node profiles and pure sizing and placement functions over them."""
