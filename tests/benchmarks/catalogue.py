"""Synthetic tools that read like real ones: a function of the server's number alone, about 700 bytes each.

Names repeat between servers, as they do in real catalogues; every server has an `echo`.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

JsonObject: TypeAlias = dict[str, object]

SERVICES: Final = (
    "calendar", "chat", "crm", "database", "deploys", "docs", "email", "files", "forum", "helpdesk", "hosting", "invoices",
    "issues", "library", "maps", "metrics", "monitoring", "notes", "payments", "payroll", "photos", "projects", "queue",
    "search", "shipping", "stock", "surveys", "tickets", "videos", "weather",
)  # fmt: skip

DEEDS: Final = {
    "create": "Creates a {thing} and gives its key.",
    "read": "Reads one {thing} by its key, with all its fields.",
    "list": "Lists each {thing} that fits the filter, the newest first, in pages.",
    "update": "Changes the named fields of a {thing} and leaves the others as they are.",
    "delete": "Deletes a {thing} for good. This can't be undone.",
    "find": "Finds a {thing} by words in its title or text.",
    "copy": "Copies a {thing} with its settings, under another title.",
    "share": "Lets another person see or change a {thing}.",
    "export": "Writes every {thing} of a period to a file and gives a link to it.",
    "count": "Counts how often a {thing} occurs in a period, by day or by week.",
}

THINGS: Final = (
    "appointment", "article", "branch", "channel", "comment", "contact", "customer", "dashboard", "document", "event",
    "expense", "folder", "group", "image", "incident", "invoice", "label", "meeting", "member", "message", "milestone",
    "order", "parcel", "payment", "permission", "pipeline", "playlist", "policy", "product", "record", "refund", "release",
    "report", "reservation", "review", "role", "schedule", "script", "sensor", "session", "shelf", "snapshot", "table",
    "task", "team", "template", "thread", "ticket", "user", "vendor", "warehouse", "webhook", "workspace",
)  # fmt: skip

ADVICE: Final = (
    "Times are in UTC.",
    "Use find first when the key is not known.",
    "Needs the right to write in the workspace.",
    "A second call with the same input changes nothing more.",
    "Long answers come in pages; ask for the next one with the cursor.",
)

PROPERTIES: Final[dict[str, JsonObject]] = {
    "key": {"type": "string", "description": "The {thing}'s key, as list and find give it."},
    "title": {"type": "string", "minLength": 1, "maxLength": 200, "description": "What people see of the {thing}."},
    "limit": {
        "type": "integer",
        "minimum": 1,
        "maximum": 100,
        "default": 20,
        "description": "How many to give at most.",
    },
    "cursor": {"type": "string", "description": "Where the next page begins; from the answer before."},
    "state": {
        "type": "string",
        "enum": ["open", "waiting", "done", "archived"],
        "description": "Only those in this state.",
    },
    "labels": {"type": "array", "items": {"type": "string"}, "description": "Labels that the {thing} must carry."},
    "since": {"type": "string", "format": "date-time", "description": "Leaves out what is older than this."},
    "owner": {"type": "string", "description": "The login of the person who owns the {thing}."},
    "notify": {"type": "boolean", "default": False, "description": "Whether watchers are told."},
}

ECHO: Final[JsonObject] = {
    "name": "echo",
    "description": "Gives the text back.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def server_name(number: int) -> str:
    name = SERVICES[number % len(SERVICES)]
    return name if number < len(SERVICES) else f"{name}-{number // len(SERVICES) + 1}"


def tools(server: int, count: int) -> list[JsonObject]:
    """The tools of one server."""
    return [ECHO, *(_tool(server * 13 + number) for number in range(count - 1))]


def _tool(number: int) -> JsonObject:
    verb = list(DEEDS)[number % len(DEEDS)]
    thing = THINGS[number * 5 % len(THINGS)]
    properties = dict(_properties(number, thing))
    advice = ADVICE[number % len(ADVICE)]
    return {
        "name": f"{verb}_{thing}",
        "description": f"{DEEDS[verb].format(thing=thing)} {advice}",
        "inputSchema": {"type": "object", "properties": properties, "required": list(properties)[:1]},
        "annotations": {"readOnlyHint": verb in ("read", "list", "find", "count")},
    }


def _properties(number: int, thing: str) -> Iterator[tuple[str, JsonObject]]:
    names = list(PROPERTIES)
    for place in range(5):
        name = names[(number + place * 2) % len(names)]
        described = PROPERTIES[name]
        yield name, {**described, "description": str(described["description"]).format(thing=thing)}
