"""`gateway.clientTools`: the tools that a host runs itself, as the operator describes them.

An entry that cannot be used is left out. A name is what the host calls its tool by, so it is taken as it is or not at all.
Whether a schema is sound is judged with those of all other tools, when the catalogue is made.
"""

from server.config.findings import Findings, shown
from server.config.sections import keys_of, read_section, warn_of_mended, warn_of_unknown_keys
from server.config.settings import MOST_CLIENT_TOOLS, ClientTool


def read_client_tools(written: object, where: str, findings: Findings) -> tuple[ClientTool, ...]:
    if written is None:
        return ()
    if not isinstance(written, list):
        fix = 'Write [{"name": "…", "description": "…", "inputSchema": {…}}].'
        findings.warn("wrong_type", where, "`clientTools` should be a list of tools.", fix)
        return ()
    if len(written) > MOST_CLIENT_TOOLS:
        message = f"{len(written)} tools are more than {MOST_CLIENT_TOOLS}; the first are used."
        findings.warn("out_of_bounds", where, message, "Name those that a model has to find.")
    read: dict[str, ClientTool] = {}
    for number, entry in enumerate(written[:MOST_CLIENT_TOOLS]):
        tool = _tool(entry, f"{where}[{number}]", findings)
        if tool is not None and tool.name in read:
            message = f"`{shown(tool.name)}` is there twice; the first is used."
            findings.warn("duplicate_name", f"{where}[{number}]", message, "Remove one of them.")
        elif tool is not None:
            read[tool.name] = tool
    return tuple(read.values())


def _tool(entry: object, where: str, findings: Findings) -> ClientTool | None:
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(name, str) or not name.strip():
        message = "A tool of the host needs a text `name`; it is left out."
        findings.warn("wrong_type", where, message, "Give the name that the host itself calls it by.")
        return None
    warn_of_unknown_keys(entry, keys_of(ClientTool), where, findings)
    reading = read_section(ClientTool, entry)
    warn_of_mended(reading.mended, where, findings)
    return reading.section
