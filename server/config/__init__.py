"""Configuration: `mcp.json` and the environment become frozen settings. The only reader of either in the project."""

from server.config.findings import ConfigError, Finding
from server.config.inputs import Ask, Input, forget_input, inputs_file, store_input, stored_inputs
from server.config.loading import load
from server.config.places import Directories, directories, find_config, read_environment
from server.config.settings import (
    GatewaySettings,
    HttpSettings,
    LimitSettings,
    LogSettings,
    PolicySettings,
    ProfileSettings,
    Remote,
    ServerEntry,
    Settings,
    StartupSettings,
    TokenSettings,
    ToolSearchSettings,
)
from server.config.stamps import Stamp, stamps

__all__ = [
    "Ask",
    "ConfigError",
    "Directories",
    "Finding",
    "GatewaySettings",
    "HttpSettings",
    "Input",
    "LimitSettings",
    "LogSettings",
    "PolicySettings",
    "ProfileSettings",
    "Remote",
    "ServerEntry",
    "Settings",
    "Stamp",
    "StartupSettings",
    "TokenSettings",
    "ToolSearchSettings",
    "directories",
    "find_config",
    "forget_input",
    "inputs_file",
    "load",
    "read_environment",
    "stamps",
    "store_input",
    "stored_inputs",
]
