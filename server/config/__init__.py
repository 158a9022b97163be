"""Configuration: `mcp.json` and the environment become frozen settings. The only reader of either in the project."""

from server.config.findings import ConfigError, Finding
from server.config.inputs import Ask, Input, forget_input, inputs_file, store_input, stored_inputs
from server.config.keys import OPENCLAW
from server.config.loading import load
from server.config.places import Directories, directories, find_config, find_program, read_environment
from server.config.settings import (
    ClientTool,
    DirectorySettings,
    GatewaySettings,
    HttpSettings,
    LimitSettings,
    LogSettings,
    Mode,
    OpenClaw,
    Pinning,
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
    "OPENCLAW",
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
    "OpenClaw",
    "Pinning",
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
    "find_program",
    "forget_input",
    "inputs_file",
    "load",
    "read_environment",
    "stamps",
    "store_input",
    "stored_inputs",
]
