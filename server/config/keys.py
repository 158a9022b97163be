"""The keys of a configuration file: ours, and those that files written for other hosts carry.

Only names and what to say about them; nothing here reads a value.
"""

from collections.abc import Mapping

# Other hosts' spellings of a key of ours with the same meaning. `enabled` is the one that means the opposite.
ALIASES: Mapping[str, str] = {
    "workingDirectory": "cwd",
    "environment": "env",
    "envs": "env",
    "transport": "type",
    "enabled_tools": "includeTools",
    "disabled_tools": "excludeTools",
    "disabledTools": "excludeTools",
}
OPPOSITE_OF_DISABLED = "enabled"

URL_KEYS = ("url", "serverUrl", "httpUrl", "baseUrl", "uri")
HTTP_TYPES = frozenset(("http", "streamable-http", "streamableHttp", "streamable_http", "sse", "ws", "remote"))
STDIO_TYPES = frozenset(("stdio", "local"))

_MAY_STAY = "It may stay."
_NAME_THE_TOOLS = "Nothing here enforces it: name the tools in `excludeTools` or `gateway.policy.deny`."

# Keys of other hosts (or of remote entries, which are not served yet) that an entry may carry, and what to do about each.
ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *URL_KEYS,
            "headers", "headersHelper", "http_headers", "http_headers_helper", "env_http_headers",
            "bearer_token_env_var", "oauth", "oauth_resource", "oauthRedirectUrl", "auth", "authentication",
            "authProviderType", "scopes", "sslVerify", "clientCert", "clientKey", "sse_read_timeout", "tokenCacheDir",
        ),
        "It may stay; remote servers are not supported yet.",
    ),
    **dict.fromkeys(
        (
            "id", "name", "displayName", "title", "icon", "icons", "version", "source", "role", "codex", "dev", "tags",
            "include_tags", "exclude_tags", "keep_alive", "required", "supportsParallelToolCalls",
            "supports_parallel_tool_calls", "metadata", "gallery", "autoApprove", "alwaysAllow", "trust",
        ),
        "It may stay.",
    ),
    **dict.fromkeys(
        ("tools", "toolPermissions", "toolFilter", "default_tools_approval_mode"),
        "Nothing here enforces it: name the tools in `excludeTools` or `gateway.policy.deny`.",
    ),
    **dict.fromkeys(
        ("sandbox", "sandboxEnabled"), "Nothing here enforces it: start the server in a sandbox of your own."
    ),
    **dict.fromkeys(("env_vars", "env_keys"), "Use `passEnv`."),
    **dict.fromkeys(("requestTimeoutMs", "tool_timeout_sec"), "Use `timeout` (milliseconds)."),
    **dict.fromkeys(
        ("connectionTimeoutMs", "startup_timeout_sec", "startup_timeout_ms"), "Use `gateway.startup.timeoutMs`."
    ),
    "cmd": "Use `command`.",
}  # fmt: skip

ROOT_KEYS = frozenset(("mcpServers", "gateway"))

# Roots under which other hosts keep their servers.
OTHER_ROOTS = ("servers", "mcp", "context_servers", "mcp_servers", "extensions")

# Named by the specification for what a later version does.
GATEWAY_NOT_YET = frozenset(("openclaw", "inputs", "http", "clientTools", "profiles"))
SECTION_NOT_YET: Mapping[str, frozenset[str]] = {
    "startup": frozenset(("waitMs",)),
    "log": frozenset(("sessionDir", "arguments")),
}
