"""What this server says of itself when it is greeted: to hosts, and by its mark to other gateways."""

from dataclasses import dataclass

from upstream_clients import JsonObject, mark_of


@dataclass(frozen=True, slots=True)
class Identity:
    """What both the front and the SDK's server say of this server. `node` is its id among gateways."""

    server_info: JsonObject
    instructions: str
    node: str

    @property
    def capabilities(self) -> JsonObject:
        return {"tools": {"listChanged": True}, "experimental": mark_of(self.node)}
