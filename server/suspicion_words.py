"""The words of which the table of suspicious phrases is made, and what each phrase amounts to: regular expressions."""

import re
from dataclasses import dataclass
from typing import Final

GAP: Final = r".{0,60}"
WIDE: Final = r".{0,160}"

_EXCUSED: Final = re.compile(
    r"\bphrases? (?:like|such as)|\bphrasing\b|\btags such as\b|\bof this server\b|\b(?:before|until|unless) they\b"
    r"|\bthat the user (?:has|have) (?:created|given|asked|chosen|uploaded)\b"
    r"|\b(?:not|never|n't) use (?:it|this) (?:for|to)\b"
    r"|\b(?:not|never|n't)\b.{0,80}\bwithout (?:telling|informing|asking)\b|\bneed not repeat\b"
)
"""What makes of a phrase no more than a sign: it is quoted, is about this server, or has an end."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """One way to say something that a description has no reason to say. With `unless` in it, a sentence says it not."""

    meaning: str
    words: frozenset[str]
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    besides: re.Pattern[str] | None = None

    def is_said_in(self, sentence: str) -> bool:
        if _EXCUSED.search(sentence):
            return False
        if self.besides is not None and not self.besides.search(sentence):
            return False
        return bool(self.pattern.search(sentence)) and not (self.unless and self.unless.search(sentence))


CONCEALS: Final = "asks to keep something from the user"
OVERRIDES: Final = "tells the model to put aside what it was told"
ADDRESSES: Final = "speaks to the model out of sight of the user"
SECRETS: Final = "asks for files or secrets that are not its business"
OTHER_TOOLS: Final = "says how other tools are to be used"
PUSHES: Final = "presses the model to use it before or instead of others"
DIVERTS: Final = "sends what belongs to the user somewhere else"
SMUGGLES: Final = "wants text that it does not need passed along"
OBEYS: Final = "has the model do what is written elsewhere"

MEANINGS: Final = {
    "conceals": CONCEALS,
    "overrides": OVERRIDES,
    "addresses": ADDRESSES,
    "secrets": SECRETS,
    "others": OTHER_TOOLS,
    "pushes": PUSHES,
    "diverts": DIVERTS,
    "smuggles": SMUGGLES,
    "obeys": OBEYS,
}

TELL: Final = r"(?:mention|tell|inform|notify|alert|reveal|disclose|warn|admit|say|report|explain|show|let|expose)"
TELLING: Final = r"(?:mentioning|telling|informing|notifying|alerting|revealing|disclosing|warning)"
NOT: Final = (
    r"(?:do not|don't|don\u2019t|dont|never|must not|should not|shouldn't|avoid|refrain from|without"
    r"|no need to|not to)"
)
PERSON: Final = r"(?:the |your |any )?(?:user|users|human|humans|person|customer|operator|owner|anyone|anybody)"
OWN: Final = r"(?:this|these|that|it|them|the instructions?|the contents?|the process|what you)"
READ: Final = (
    r"(?:read|open|access|cat|fetch|get|list|load|retrieve|collect|gather|send|include|pass|provide|copy|upload"
    r"|extract|leak"
    r"|steal|print|output|append|attach|add|find|dump|return|share|reading|contents?)"
)
SENSITIVE_FILE: Final = (
    r"(?:~/\.|\.ssh\b|id_rsa|id rsa|id_ed25519|authorized_keys|\.aws\b|\.netrc|\.npmrc|\.pypirc|\.gnupg|\.kube/config"
    r"|\.git-credentials"
    r"|/etc/(?:passwd|shadow|hosts|sudoers)|/proc/self|\.env\b|mcp\.json|claude_desktop_config|\.cursor\b"
    r"|\.bash_history|\.zsh_history"
    r"|\.bashrc|\.zshrc|wallet\.dat|seed phrase|private[ _-]keys?|ssh[ _-]keys?|keychain|environment variables?)"
)
SENSITIVE_THING: Final = (
    r"(?:[a-z]+://(?:\w+[-_/.])*(?:secrets?|confidential|credentials?|internal|private)\b|passwords?|credentials?"
    r"|api[ _-]?keys?"
    r"|access[ _-]?tokens?|auth(?:entication)?[ _-]?tokens?|secrets?|confidential|system prompt|conversation history"
    r"|chat history"
    r"|(?:whole|entire|full|previous|complete) conversation|(?:previous|earlier|all) messages)"
)
FIRST: Final = (
    r"(?:before (?:using|calling|invoking|running|executing|you)|when(?:ever)? (?:this|the|using|calling|you)|prior to"
    r"|in order to"
    r"|must|need to|have to|should|always|first|required?|make sure|ensure|every time|each time|if the)"
)
TOOL: Final = r"(?:tool|tools|function|functions|server|servers|plugin|plugins|mcp)"
SNAKE: Final = r"[`'\"]?[a-z][a-z0-9]*(?:[_-][a-z0-9]+)+(?:\(\))?[`'\"]?"
TARGET: Final = r"(?:\b[\w.+-]+@[\w-]+\.[a-z]|https?://|\+?\d{7,}|\b(?:attacker|evil|exfil)\b)"


def phrase(meaning: str, words: str, pattern: str, unless: str = "", besides: str = "") -> Phrase:
    compiled = (re.compile(text) if text else None for text in (unless, besides))
    return Phrase(meaning, frozenset(words.split()), re.compile(pattern), *compiled)
