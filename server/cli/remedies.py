"""What a person can do about a tool that cannot be used, in the same words wherever that is shown."""

from index import BAD_NAME, Exposure, Tool
from server.client_tools import CLIENT, RENAME


def remedy(tool: Tool) -> str:
    """The way out for one that is quarantined or warned of; empty for any other."""
    if tool.warning:
        return f"Look at it, and accept it if it is right: toolfold trust {tool.upstream} {tool.name}"
    if tool.exposure is not Exposure.QUARANTINED:
        return ""
    if tool.source == CLIENT:
        return f"{RENAME[0].upper()}{RENAME[1:]}" if tool.definition else "Mend its entry in gateway.clientTools."
    if tool.reason == BAD_NAME:
        return "Its server has to give it another name: tell its maker."
    return "Its server has to mend it: tell its maker."
