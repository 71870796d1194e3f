"""What official plugins do, recorded, and the stand-ins held to it."""
