"""How Pulumi's engine marks values that are not plain JSON: on the wire, in its events and in a state.

Source: pulumi/sdk, go/common/resource/sig/sig.go and go/common/resource/plugin/rpc.go.
"""

SIGNATURE = "4dabf18193072939515e22adb298388d"
"""The key that an object has instead of being a plain value; it names the type of the value."""
SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - the name of a type
OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
RESOURCE = "5cf8f73096256a8f31e491e813e4eb8e"
REDACTED = "[secret]"
"""What the engine's events show for a secret's value; renders, policies and reviews show the same."""
UNKNOWN_STRING = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The text that is in the place of a value which only an update determines."""
