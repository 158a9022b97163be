"""What a tool's text says when it speaks to the model instead of about the tool: one table, made to be read and "
"corrected.

Patterns are matched against one sentence in small letters, folded onto one line. Each looks a bounded way ahead. `words`
are those of which a sentence must hold one before the pattern is tried at all, which nearly no sentence does; `besides`
must be found, too.
"""

from typing import Final

from server.suspicion_words import (
    ADDRESSES,
    CONCEALS,
    DIVERTS,
    FIRST,
    GAP,
    NOT,
    OTHER_TOOLS,
    OVERRIDES,
    OWN,
    PERSON,
    PUSHES,
    READ,
    SECRETS,
    SENSITIVE_FILE,
    SENSITIVE_THING,
    SMUGGLES,
    SNAKE,
    TARGET,
    TELL,
    TELLING,
    TOOL,
    WIDE,
    phrase,
)

_TELL_WORDS: Final = "mention tell inform notify alert reveal disclose warn admit say report explain show let expose"

PHRASES: Final = (
    phrase(
        CONCEALS,
        f"{_TELL_WORDS} mentioning telling informing notifying alerting revealing disclosing",
        rf"\b{NOT} (?:ever |also |explicitly )?(?:{TELL}|{TELLING}) {GAP}\b{PERSON}\b",
        r"\b(?:user|person)(?:'s)? (?:password|secret|key|token|credential)",
    ),
    phrase(
        CONCEALS,
        "mention reveal disclose admit mentioning revealing disclosing",
        rf"\b{NOT} (?:ever |also |explicitly )?(?:mention|reveal|disclose|admit|mentioning|revealing|disclosing)"
        rf" (?:that (?:you|this|it)|{OWN}|having|how you|why you)\b",
    ),
    phrase(
        CONCEALS,
        "know notice see aware realize realise suspect told informed notified shown visible",
        rf"\b{PERSON} (?:must not|should not|shouldn't|mustn't|must never|should never|does not need to"
        rf"|doesn't need to|need not"
        r"|is not to|are not to) (?:be |ever )?"
        r"(?:know|notice|see this|see it|see these|aware|reali[sz]e|suspect|told|informed|notified|shown)",
    ),
    phrase(
        CONCEALS,
        "secret hidden silent quiet secretly silently covertly quietly discreetly invisibly unnoticed",
        r"\b(?:keep|stay|remain|do)\b.{0,12} (?:this|it|these|that|all of this)\b.{0,20}\b(?:secret|hidden|silent"
        r"|quiet|secretly|unnoticed)"
        r"|\b(?:secretly|silently|covertly|quietly|discreetly|invisibly) (?:\w+ )?(?:send|forward|upload|read|copy"
        r"|collect|transmit"
        r"|include|append|pass|access|call|email|exfiltrate|add|log|record|fetch|execute|run)s?\b",
    ),
    phrase(
        CONCEALS,
        "part normal pretend",
        r"\bas if (?:it|this|they|nothing|that)(?:'s|\u2019s| is| was| were| are)? ?(?:a )?(?:part|normal|happened"
        r"|ordinary|regular)\b"
        r"|\bpretend (?:that |to |you|this|it)",
    ),
    phrase(
        OVERRIDES,
        "ignore disregard forget override bypass discard",
        r"\b(?:ignore|disregard|forget|override|bypass|discard) (?:all |any |every |the |your |these |those |of |my "
        r"|its |and )*"
        r"(?:previous|prior|earlier|above|preceding|existing|other|system|safety|security|user|original|initial|former"
        r"|developer)\W+"
        r"(?:\w+ )?(?:instructions?|prompts?|rules?|guidelines?|messages?|policy|policies|guardrails?|restrictions?"
        r"|directions?|orders"
        r"|context|requests?|constraints?|tools?)",
        r"[\"'\u201c\u2018`](?:please )?(?:ignore|disregard|forget|override|bypass)\b",
    ),
    phrase(
        OVERRIDES,
        "now developer system prompt instructions",
        r"\byou are now (?:a|an|in|the|no)\b|\bfrom now on,? (?:you|always|never|all|every)\b"
        r"|\bdeveloper mode\b"
        r"|\bnew (?:system )?instructions?:|\bsystem prompt:|\b(?:system|developer) (?:override|instruction|message):",
    ),
    phrase(
        ADDRESSES,
        "hidden secret secrets system instruction instructions confidential override admin prompt internal sys",
        r"<(?P<tag>/?(?:hidden|system|secrets?|instructions?|confidential|override|admin|prompt"
        r"|internal|sys"
        r"|system[-_ ]?(?:prompt|message|instructions?)|hidden[-_ ]?instructions?))>(?=.*\s)(?:.{0,400}</|\s*[a-z])",
    ),
    phrase(
        ADDRESSES,
        "im inst start sys assistant human system",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[/?inst\]|<</?sys>>|^(?:system|assistant"
        r"|human) ?: ?\w",
        r"\btemplates?\b|\.\.\.",
    ),
    phrase(
        ADDRESSES,
        "assistant model llm ai agent claude chatgpt gpt gemini",
        r"(?:^(?:note|message|instructions?|attention|hint) (?:to|for) (?:the |all |any )?(?:ai|llm|model|assistant"
        r"|agent)s?\b"
        r"|\b(?:dear|hey|attention,?) (?:ai|llm|model|assistant|agent|claude|chatgpt|gpt|gemini)\b"
        r"|\b(?:the |any )?(?:ai|llm|language model|assistant|claude|chatgpt|gpt|gemini)(?: model| agent| assistant)?"
        r" (?:must|shall|is required to|is instructed to|are instructed to)\b)",
    ),
    phrase(
        ADDRESSES,
        "response answer reply output message",
        r"\b(?:must|always|need to|have to|should also|secretly|make sure to)\b.{0,40}\b(?:include|add|append|insert"
        r"|mention|put|say|end)\b"
        r".{0,60}\b(?:in|to|into|with|at the end of) your (?:next |final |every )?(?:response|answer|reply|output"
        r"|message)",
    ),
    phrase(
        SECRETS,
        "ssh rsa aws netrc npmrc pypirc gnupg kube git etc passwd shadow env mcp claude cursor bash zsh private key "
        "keys keychain "
        "environment variable variables proc wallet seed config ed authorized bashrc zshrc",
        rf"\b{FIRST}\b.{{0,200}}\b{READ}\b {GAP}{SENSITIVE_FILE}"
        rf"|\b{READ}\b {GAP}{SENSITIVE_FILE}.{{0,200}}\b{FIRST}\b"
        rf"|\b{READ}\b {GAP}{SENSITIVE_FILE}.{{0,80}}\b(?:pass|include|send|put|append|provide|add|as|into?) "
        r"(?:it|its|their|them|the (?:contents?|result|data|output|keys?|files?)|(?:a |an )?(?:parameter|argument"
        r"|side ?note|context|metadata))\b"
        r"|\bcontents? (?:from|of) (?:reading |the )*[\w~/.-]{0,40}(?:id_rsa|id rsa|\.ssh|/etc/passwd|etc passwd"
        r"|\.env\b|mcp\.json|private key)",
        r"\.pub\b|\b(?:do not|don't|never|must not|should not|cannot)\b.{0,40}\b(?:include|send|pass|share|put|provide|read"
        r"|access)",
        SENSITIVE_FILE,
    ),
    phrase(
        SECRETS,
        "secret secrets confidential password passwords credential credentials api key keys token tokens history "
        "conversation "
        "messages internal private prompt",
        rf"\b(?:you must|you should|you need to|you have to|you will|must first|must also|always|be sure to"
        rf"|make sure to|also)"
        rf" (?:first |also |always |then )?(?:read|access|fetch|retrieve|collect|gather|send|include|pass|provide|copy"
        rf"|upload|extract|leak|steal"
        rf"|print|output|append|attach|dump|reveal|share|return) {GAP}{SENSITIVE_THING}",
        r"\b(?:do not|don't|never|must not|should not|cannot|used to|can be|optionally)\b",
        SENSITIVE_THING,
    ),
    phrase(
        SMUGGLES,
        "sidenote note context parameter argument field metadata notes",
        r"\b(?:pass|put|include|send|append|add|provide|place|insert|write|store)\b (?:\w+ ){0,3}(?:its|their"
        r"|the (?:file's|files')) contents?"
        r"\b.{0,40}\b(?:as|in|into|to|via|through) .{0,20}(?:side ?note|note|context|parameter|argument|field|metadata)",
    ),
    phrase(
        SMUGGLES,
        "conversation history prompt messages context reasoning thoughts",
        r"\b(?:pass|put|include|send|append|add|provide|place|insert|write|store|forward|log|copy"
        r"|summari[sz]e)\b.{0,30}\b(?:the |your |all |entire |"
        r"whole |full |complete |user's |previous )+(?:conversation|chat history|chat log|message history"
        r"|system prompt|user's prompt"
        r"|user prompt|original prompt|thoughts|reasoning|context window)\b",
        r"\b(?:do not|don't|never)\b",
    ),
    phrase(
        OTHER_TOOLS,
        "available present used called invoked installed loaded connected calling using invoking use call",
        rf"\b(?:when|whenever|if|once|after|before|every time|each time)\b.{{0,20}} (?:{SNAKE}"
        rf"|(?:the )?[a-z]+ (?:tool|function|server))"
        r" (?:tool |function |server )?(?:is|are|gets?|was|has been|becomes) (?:also )?(?:available|present|used"
        r"|called|invoked|installed"
        rf"|loaded|connected)\b{WIDE}\b(?:always|must|instead|should|never|do not|don't|add|set|change|replace"
        rf"|redirect|send|bcc)\b",
    ),
    phrase(
        OTHER_TOOLS,
        "other others all another tools servers original official",
        rf"\b(?:other|original|official|all other|any other|existing|built-in|previous|alternative"
        rf"|competing) (?:\w+ )?{TOOL} "
        r"(?:\w+ )?(?:is|are|was|were|has been|have been|will be|must|should|may not|can't|cannot|do not|don't) "
        r"(?:\w+ )?(?:deprecated|broken|outdated|unsafe|insecure|compromised|disabled|malicious|obsolete|unavailable"
        r"|unreliable|inaccurate"
        r"|wrong|not be|never be|be ignored|be disabled|be called|be used|be avoided|work)",
    ),
    phrase(
        OTHER_TOOLS,
        "mcp tool toolfold",
        r"\bmcp__\w+__\w|\bmcp:[a-z0-9-]{1,40}:[a-z_]|\b(?:tool_call|tool_search|tool_describe)\b",
    ),
    phrase(
        PUSHES,
        "other others any all another tools server servers",
        rf"\b(?:do not|don't|never|avoid|stop|refuse to) (?:ever )?(?:use|using|call|calling|invoke|choose|choosing"
        rf"|select|selecting|trust|prefer) "
        rf"(?:the |any |all )*(?:other|another|others|different|alternative|competing|original|official"
        rf"|similar)\b.{{0,30}}{TOOL}\b",
    ),
    phrase(
        PUSHES,
        "must always should best first only",
        rf"\b(?:this|the) {TOOL} (?:must|should|has to|needs to|shall) (?:always |ever )?be (?:called|used|invoked"
        rf"|run|executed|chosen|selected"
        r"|preferred)\b.{0,30}\b(?:before (?:any|all|every|other|anything|each)|instead of|first of all|over (?:all"
        r"|any|every|other)|for (?:all|every|any)"
        r" (?:request|quer|task|question)|no matter|regardless|in every|whenever possible)",
    ),
    phrase(
        PUSHES,
        "before after prior first every each any all",
        r"\b(?:should|must|has to|have to|needs? to|always) (?:always |only |first |also )?(?:be )?(?:called?|invoked?"
        r"|used?|run|executed?)\b.{0,60}"
        r"\b(?:before|after|prior to|ahead of|for|on|with|in) (?:\w+ )?(?:any|every|each|all"
        r"|other)\b(?! \w+ (?:argument|parameter|field)s?)",
        r"\b(?:parameters?|arguments?|fields?|values?|id|ids|paths?|names?|format)\b.{0,20} (?:should|must|has to"
        r"|have to|needs? to)",
    ),
    phrase(
        PUSHES,
        "better faster safer more priority prioritize prioritise superior enhanced improved upgraded advanced secure "
        "replacement replaces",
        rf"\b(?:better|faster|safer|superior|more (?:accurate|secure|reliable|trusted|trustworthy|advanced|powerful"
        rf"|efficient|precise|capable))"
        rf" (?:than|to|version of|alternative to|replacement for) (?:the |any |all |every |our |your )*(?:other|others"
        rf"|original|official|old|existing|default"
        rf"|previous|{SNAKE}|\w+ {TOOL})\b"
        rf"|\b(?:highest|top|maximum|absolute) priority\b|\bprioriti[sz]e this (?:{TOOL}|one)\b"
        rf"|\b(?:enhanced|improved|upgraded|secure|better|advanced|safer|faster) (?:version|replacement|alternative"
        rf"|substitute) (?:of|for|to) (?:the )?"
        rf"(?:original|official|old|existing|{SNAKE}|\w+ {TOOL})",
    ),
    phrase(
        OTHER_TOOLS,
        "deprecated outdated unsafe insecure compromised disabled broken replaced longer malicious obsolete untrusted",
        rf"(?:{SNAKE}|\b\w+ (?:tool|function|server)) (?:tool |function |server )?(?:is|are|was|were|has been"
        rf"|have been) (?:now )?(?:deprecated|outdated|unsafe"
        r"|insecure|compromised|disabled|broken|replaced by this|malicious|obsolete|untrusted|no longer (?:available"
        r"|supported|safe|working|in use|maintained))\b",
    ),
    phrase(
        ADDRESSES,
        "respond reply answer tell inform convince persuade advise recommend",
        r"\b(?:you must|you should|you have to|you need to|always|please|make sure to|be sure to) (?:also |then "
        r"|always )?(?:respond|reply|answer|tell"
        r"|inform|convince|persuade|advise|recommend|suggest)\b.{0,30}\b(?:with|the user|user|users|to use|that|to)\b",
        r"\bask\b",
    ),
    phrase(
        SECRETS,
        "password passwords credential credentials key token tokens card pin secret ssn seed",
        r"\b(?:ask|request|prompt|require|tell|instruct) (?:the |your )?users? (?:for|to (?:provide|enter|give|share"
        r"|input|type|send))\b.{0,40}\b(?:passwords?"
        r"|credentials?|api[ _-]?keys?|tokens?|credit cards?|card numbers?|pin|private keys?|seed|secrets?|ssn)\b",
    ),
    phrase(
        SECRETS,
        "rm curl wget bash sh eval powershell base nc chmod sudo",
        r"\brm -rf\b|\b(?:curl|wget)\b[^|]{1,120}\| ?(?:ba|z)?sh\b|\b(?:run|execute|first|must|always"
        r"|before)\b.{0,60}\b(?:curl|wget|nc|bash -c|eval"
        r"|powershell|base64 -d|chmod|sudo) (?:-|https?:|/|\+)",
        r"\b(?:blocked|refused|rejected|denied|forbidden|not allowed)\b",
    ),
    phrase(
        PUSHES,
        "rather matter instead place",
        rf"\b(?:use|call|run|execute|choose) this (?:{TOOL}|one)\b.{{0,20}}\b(?:no matter (?:how|what|which)"
        rf"|(?:rather than|instead of|in place of)"
        r" (?:the |any |all |every )*others?\b)",
    ),
    phrase(
        OTHER_TOOLS,
        "before after",
        rf"\b(?:before|after) (?:you )?(?:execut\w+|use|using|call\w*|run\w*|invok\w+) (?:the )?\w+ (?:operation"
        rf"|{TOOL})\b{WIDE}"
        rf"\b(?:execute|run|use|call|invoke) this {TOOL}\b",
    ),
    phrase(
        DIVERTS,
        "bcc cc forward forwarded send sent redirect redirected transfer recipient emails messages copy copied",
        rf"\b(?:always|must|instead|should|every|all|each)\b{GAP}\b(?:bcc|cc|forward\w*|send|sent|redirect\w*"
        rf"|transfer\w*|recipients?|copy|copied"
        rf"|upload\w*|post(?:ed)?|deliver\w*)\b{GAP}{TARGET}"
        rf"|\b(?:bcc|cc|forward|redirect|exfiltrate)\b{GAP}\b(?:to|with)\b{GAP}{TARGET}.{{0,30}}\b(?:instead|always"
        rf"|every time)\b",
        besides=TARGET,
    ),
)

WORDS: Final = frozenset(word for phrase in PHRASES for word in phrase.words)
