"""The environment of a child: what every program needs, what its entry gives, and nothing else of ours.

It holds the list of what passes. It reads no environment itself: `server.config.places` does, once.
"""

import fnmatch
import os
from collections.abc import Mapping, Sequence

# What the official SDKs pass on; without it programs do not find themselves, their home or their user.
_PERSON = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR", "SSH_AUTH_SOCK")

# Windows programs do not start, or find no folder to write to, without these. Elsewhere the names do not occur.
_WINDOWS = (
    "ALLUSERSPROFILE", "APPDATA", "COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMPUTERNAME", "COMSPEC", "HOMEDRIVE",
    "HOMEPATH", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS", "OS", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMDATA",
    "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "PUBLIC", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERDOMAIN",
    "USERNAME", "USERPROFILE", "WINDIR",
)  # fmt: skip

# Behind a company's proxy `npx` and `uvx` reach nothing without these; programs disagree on the case.
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY")
_CERTIFICATES = (
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO",
    "PIP_CERT", "AWS_CA_BUNDLE", "DENO_CERT", "NIX_SSL_CERT_FILE", "NPM_CONFIG_CAFILE", "npm_config_cafile",
)  # fmt: skip

_PASSED = frozenset((*_PERSON, *_WINDOWS, *_PROXIES, *(name.lower() for name in _PROXIES), *_CERTIFICATES))
_PASSED_PREFIXES = ("LC_", "XDG_")


def inherited(environ: Mapping[str, str]) -> dict[str, str]:
    """What every child gets of the gateway's own environment."""
    return {
        name: value
        for name, value in environ.items()
        if (name in _PASSED or name.startswith(_PASSED_PREFIXES))
        and not value.startswith("()")  # an exported shell function
    }


def passed(environ: Mapping[str, str], patterns: Sequence[str]) -> dict[str, str]:
    """The variables that `passEnv` names, by name or glob."""
    wanted = [pattern.upper() if os.name == "nt" else pattern for pattern in patterns]
    return {
        name: value for name, value in environ.items() if any(fnmatch.fnmatchcase(name, pattern) for pattern in wanted)
    }


def unusable_text(text: str) -> str:
    """Why no operating system takes `text` as an argument or in an environment; "" if it does."""
    if "\0" in text:
        return "contains a NUL character"
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return "contains half of a surrogate pair"
    return ""


def unusable_name(name: str) -> str:
    """Why `name` cannot be the name of an environment variable; "" if it can."""
    if not name:
        return "is empty"
    return "contains `=`" if "=" in name else unusable_text(name)
