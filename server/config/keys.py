"""The keys of a configuration file: ours, and those that files written for other hosts carry.

Only names and what to say about them; nothing here reads a value. What one host alone means by a key is in
`server.config.dialects`, and what has another shape there in `server.config.spellings`.
"""

from collections.abc import Mapping

# Other hosts' spellings of a key of ours with the same meaning. `enabled` is the one that means the opposite.
ALIASES: Mapping[str, str] = {
    "workingDirectory": "cwd",
    "environment": "env",
    "envs": "env",
    "transport": "type",
    "cmd": "command",
    "executable": "command",
    "disabled_tools": "excludeTools",
    "disabledTools": "excludeTools",
    "blockedTools": "excludeTools",
    "blocked_tools": "excludeTools",
    "http_headers": "headers",
}
OPPOSITE_OF_DISABLED = "enabled"

# The keys of an address, in the order in which hosts that know two of them look.
URL_KEYS = ("httpUrl", "url", "serverUrl", "server_url", "baseUrl", "base_url", "uri")

# Waits under another key: the one of ours, and how many milliseconds the number counts.
WAITS: Mapping[str, tuple[str, int]] = {
    "requestTimeoutMs": ("timeout", 1),
    "tool_timeout_sec": ("timeout", 1000),
    "connectionTimeoutMs": ("startupTimeout", 1),
    "connectionTimeout": ("startupTimeout", 1),
    "startup_timeout_ms": ("startupTimeout", 1),
    "startup_timeout_sec": ("startupTimeout", 1000),
}

# `type`, without its case, `-` and `_`: what it comes to.
TRANSPORTS: Mapping[str, str] = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "streamablehttp": "http",
    "sse": "sse",
    "remote": "auto",
    "auto": "auto",
    "ws": "ws",
    "websocket": "ws",
}

# What a host does inside itself and lists beside its servers. There is nothing in it that anybody else could start.
INSIDE_THE_HOST = frozenset(("builtin", "platform", "frontend", "inlinepython"))

_MAY_STAY = "It may stay."
NOT_ENFORCED = "Nothing here enforces it: name the tools in `excludeTools` or `gateway.policy.deny`."

# Keys of other hosts that an entry may carry, and what to do about each.
ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "oauth", "oauth_resource", "auth", "authentication", "authProviderType", "scopes", "sslVerify", "clientCert",
            "clientKey", "sse_read_timeout", "tokenCacheDir", "token_cache_dir", "refresh", "httpFetch", "http_fetch",
            *(f"oauth{name}" for name in ("RedirectUrl", "ClientId", "ClientSecret", "Scope", "Command")),
            *(f"oauth_{name}" for name in ("redirect_url", "client_id", "client_secret", "scope", "command")),
        ),
        "It may stay; toolfold sends the `headers` of an entry, and nothing else of its own.",
    ),
    **dict.fromkeys(
        (
            "id", "name", "displayName", "title", "icon", "icons", "version", "source", "role", "codex", "dev", "tags",
            "include_tags", "exclude_tags", "keep_alive", "required", "supportsParallelToolCalls",
            "supports_parallel_tool_calls", "metadata", "gallery", "autoApprove", "alwaysAllow", "trust", "bundled",
            "settings", "lifecycle", "logging", "clientName", "client_name", "experimental_environment", "display_name",
        ),
        _MAY_STAY,
    ),
    "default_tools_approval_mode": NOT_ENFORCED,
    **dict.fromkeys(
        ("sandbox", "sandboxEnabled"), "Nothing here enforces it: start the server in a sandbox of your own."
    ),
}  # fmt: skip

ROOT_KEYS = frozenset(("mcpServers", "gateway"))

# Beside the servers, read here too: `toolSearch` by itself or in `tools`, and what `${input:…}` refers to.
READ_BESIDE = frozenset(("toolSearch", "inputs"))

# In `gateway`, and an upstream instead of a setting (`server.config.openclaw`); its name, and the source of its tools.
OPENCLAW = "openclaw"

# Named by the specification for what a later version does.
GATEWAY_NOT_YET = frozenset(("inputs",))
SECTION_NOT_YET: Mapping[str, frozenset[str]] = {
    "startup": frozenset(("waitMs",)),
}


def folded(kind: str) -> str:
    """A `type` as the tables here have it."""
    return kind.lower().replace("-", "").replace("_", "")
