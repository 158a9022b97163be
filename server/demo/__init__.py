"""Three small MCP servers that toolfold brings along, so that a first look needs neither Node nor a network.

They are ordinary upstreams, separate processes on the SDK's `MCPServer`: `python -P -m server.demo.files ROOT`,
`python -P -m server.demo.data DATABASE` and `python -P -m server.demo.everyday`. Nothing in here knows the gateway,
and no tool in here opens a socket or starts a program.
"""
