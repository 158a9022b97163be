"""Configuration: `mcp.json` and the environment become frozen settings. The only reader of either in the project."""

from server.config.findings import ConfigError, Finding
from server.config.inputs import Ask, Input, store_input
from server.config.loading import load
from server.config.places import Directories, directories, find_config, read_environment
from server.config.settings import (
    ClientTool,
    DirectorySettings,
    GatewaySettings,
    HttpSettings,
    LimitSettings,
    LogSettings,
    Mode,
    PolicySettings,
    Remote,
    RequestedMode,
    ServerEntry,
    Settings,
    StartupSettings,
    ToolSearchSettings,
)
from server.config.stamps import Stamp, stamps

__all__ = [
    "Ask",
    "ClientTool",
    "ConfigError",
    "Directories",
    "DirectorySettings",
    "Finding",
    "GatewaySettings",
    "HttpSettings",
    "Input",
    "LimitSettings",
    "LogSettings",
    "Mode",
    "PolicySettings",
    "Remote",
    "RequestedMode",
    "ServerEntry",
    "Settings",
    "Stamp",
    "StartupSettings",
    "ToolSearchSettings",
    "directories",
    "find_config",
    "load",
    "read_environment",
    "stamps",
    "store_input",
]
