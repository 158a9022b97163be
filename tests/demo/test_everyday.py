from datetime import datetime

import pytest
from mcp import Client
from mcp_types import TextContent

EXACT = [
    ("calculate", {"expression": "2 * (3 + sqrt(16)) ** 2"}, {"expression": "2 * (3 + sqrt(16)) ** 2", "result": "98"}),
    ("calculate", {"expression": "0.1 + 0.2"}, {"expression": "0.1 + 0.2", "result": "0.3"}),
    ("calculate", {"expression": "2 ** 200"}, {"expression": "2 ** 200", "result": str(2**200)}),
    ("calculate", {"expression": "+".join("1" * 249)}, {"expression": "+".join("1" * 249), "result": "249"}),
    (
        "convert_units",
        {"value": 100, "source_unit": "km/h", "target_unit": "mph"},
        {"value": 62.1371192237, "unit": "mph", "dimension": "speed (metre per second)"},
    ),
    (
        "convert_units",
        {"value": -40, "source_unit": "C", "target_unit": "F"},
        {"value": -40.0, "unit": "F", "dimension": "temperature (kelvin)"},
    ),
    (
        "describe_numbers",
        {"numbers": [2, 4, 4, 5, 10]},
        {
            "count": 5,
            "total": 25.0,
            "mean": 5.0,
            "median": 4.0,
            "smallest": 2.0,
            "largest": 10.0,
            "standard_deviation": 3.0,
            "quartiles": [3.0, 4.0, 7.5],
        },
    ),
    (
        "percentage",
        {"question": "change", "first": 80, "second": 100},
        {"expression": "from 80 to 100 in %", "result": "25"},
    ),
    (
        "convert_time",
        {"time": "2026-03-29T14:30", "source_time_zone": "Europe/Berlin", "target_time_zone": "America/New_York"},
        {
            "source": {
                "time": "2026-03-29T14:30:00+02:00",
                "time_zone": "Europe/Berlin",
                "weekday": "Sunday",
                "daylight_saving": True,
            },
            "target": {
                "time": "2026-03-29T08:30:00-04:00",
                "time_zone": "America/New_York",
                "weekday": "Sunday",
                "daylight_saving": True,
            },
            "difference_hours": -6.0,
        },
    ),
    (
        "add_to_date",
        {"day": "2024-01-31", "months": 1},
        {"date": "2024-02-29", "weekday": "Thursday", "iso_week": "2024-W09", "day_of_year": 60, "leap_year": True},
    ),
    (
        "days_between",
        {"first": "2026-03-02", "second": "2026-03-16"},
        {"days": 14, "weeks": 2, "remaining_days": 0, "business_days": 10},
    ),
    ("list_time_zones", {"contains": "paris"}, {"time_zones": ["Europe/Paris"], "more": False}),
    (
        "count_words",
        {"text": "It's one.\nIt isn't two.\n\nThree!"},
        {
            "characters": 31,
            "characters_without_spaces": 25,
            "words": 6,
            "lines": 4,
            "paragraphs": 2,
            "reading_minutes": 0.0,
        },
    ),
    (
        "replace_text",
        {"text": "a.b.c", "find": ".", "replace_with": "--", "limit": 1},
        {"text": "a--b.c", "replacements": 1},
    ),
    (
        "hash_text",
        {"text": "toolfold", "algorithm": "md5"},
        {"algorithm": "md5", "hex": "da3c6bf5f322e60f7e03b2a324bc93f4"},
    ),
]

WRITTEN = [
    ("slugify", {"text": "  Crème brûlée, für zwei! "}, "creme-brulee-fur-zwei"),
    ("change_case", {"text": "parseHTTPHeader now", "case": "snake"}, "parse_httpheader_now"),
    ("change_case", {"text": "it's a test", "case": "title"}, "It's A Test"),
    ("compare_texts", {"before": "a\nb\n", "after": "a\nc\n"}, "--- before\n+++ after\n@@ -1,2 +1,2 @@\n a\n-b\n+c"),
    ("compare_texts", {"before": "a", "after": "a"}, "The texts are equal."),
    ("base64_text", {"text": "größer?>"}, "Z3LDtsOfZXI/Pg=="),
    ("base64_text", {"text": "Z3LDtsOfZXI_Pg", "direction": "decode", "url_safe": True}, "größer?>"),
]

ONLY = (
    "only numbers, + - * / // % ** and parentheses, pi, e, tau, and abs, round, min, max, sqrt, floor, ceil, exp, log, "
    "log2, log10, sin, cos, tan, asin, acos, atan, degrees, radians, hypot, gcd, factorial"
)

REFUSED = [
    ("calculate", {"expression": "9 ** 9 ** 9"}, "Cannot evaluate this: too large a power."),
    ("calculate", {"expression": "1e200 * 1e200"}, "Cannot evaluate this: no finite value."),
    ("calculate", {"expression": "1 / 0"}, "Cannot evaluate this: a division by zero."),
    (
        "calculate",
        {"expression": "factorial(10 ** 9)"},
        "Cannot evaluate this: factorial takes a whole number up to 400.",
    ),
    ("calculate", {"expression": "round(1, -10 ** 9)"}, "Cannot evaluate this: round takes at most 300 digits."),
    ("calculate", {"expression": "(-8) ** 0.5"}, "Cannot evaluate this: a broken power of a negative number."),
    ("calculate", {"expression": "-" * 400 + "1"}, "Cannot evaluate this: nested deeper than 250 levels."),
    (
        "calculate",
        {"expression": "(" * 240 + "1" + ")" * 240},
        "Cannot evaluate this: not an expression; write it like 2 * (3 + 4).",
    ),
    ("calculate", {"expression": "'a' * 9"}, f"Cannot evaluate this: {ONLY}."),
    ("calculate", {"expression": "__import__('os').getcwd()"}, f"Cannot evaluate this: {ONLY}."),
    ("calculate", {"expression": "sqrt(1, 2)"}, "Cannot evaluate this: sqrt does not take these arguments."),
    (
        "convert_units",
        {"value": 1, "source_unit": "kg", "target_unit": "km"},
        "kg measures mass (kilogram), km measures length (metre). Both must measure the same.",
    ),
    (
        "current_time",
        {"time_zone": "Europe/Berlinn"},
        "There is no time zone 'Europe/Berlinn'. Do you mean Europe/Berlin? Use list_time_zones.",
    ),
    (
        "current_time",
        {"time_zone": "../../etc/passwd"},
        "There is no time zone '../../etc/passwd'. Use list_time_zones.",
    ),
    ("add_to_date", {"day": "2026-02-30"}, "'2026-02-30' is no date. Write it as 2026-03-29."),
    ("add_to_date", {"day": "2026-02-20", "years": 9000}, "The result lies outside the years 1 to 9999."),
    ("base64_text", {"text": "not base64!", "direction": "decode"}, "This is not Base64 of a UTF-8 text."),
    ("slugify", {"text": "日本"}, "Nothing is left of this text: it has no Latin letters or digits."),
    (
        "replace_text",
        {"text": "a" * 1_000, "find": "a", "replace_with": "b" * 1_000},
        "The result would be longer than 100,000 characters.",
    ),
    (
        "percentage",
        {"question": "what_percent", "first": 1, "second": 0},
        "A share of nothing, or a change from nothing, has no percentage.",
    ),
    ("describe_numbers", {"numbers": [1e308, 1e308]}, "These numbers are too large to be summed up."),
]


async def test_every_tool_says_what_it_does_and_what_it_takes(everyday: Client) -> None:
    tools = (await everyday.list_tools()).tools
    assert len(tools) == 16
    for tool in tools:
        assert tool.title
        assert tool.description
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint


@pytest.mark.parametrize(("tool", "arguments", "answer"), EXACT)
async def test_a_question_has_one_exact_answer(
    everyday: Client, tool: str, arguments: dict[str, object], answer: dict[str, object]
) -> None:
    result = await everyday.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content == answer


@pytest.mark.parametrize(("tool", "arguments", "answer"), WRITTEN)
async def test_a_text_is_answered_with_a_text(
    everyday: Client, tool: str, arguments: dict[str, object], answer: str
) -> None:
    result = await everyday.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.content == [TextContent(text=answer)]


@pytest.mark.parametrize(("tool", "arguments", "reason"), REFUSED)
async def test_what_cannot_be_answered_is_refused_with_the_reason(
    everyday: Client, tool: str, arguments: dict[str, object], reason: str
) -> None:
    result = await everyday.call_tool(tool, arguments)
    assert result.is_error
    assert result.content == [TextContent(text=f"Error executing tool {tool}: {reason}")]


async def test_the_current_time_carries_its_offset(everyday: Client) -> None:
    result = await everyday.call_tool("current_time", {"time_zone": "Asia/Kolkata"})
    assert result.structured_content is not None
    moment = datetime.fromisoformat(result.structured_content["time"])
    assert result.structured_content == {
        "time": moment.isoformat(),
        "time_zone": "Asia/Kolkata",
        "weekday": f"{moment:%A}",
        "daylight_saving": False,
    }
    assert moment.isoformat().endswith("+05:30")
