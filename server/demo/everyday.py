"""Demo server `everyday`: dates, text and numbers. What it publishes, and how it starts.

Started as `python -P -m server.demo.everyday`; its tools only compute, and must never keep anything between calls.
"""

import argparse

from server.demo import dates, reckoning, text
from server.demo.serving import READS, ServerSpec, ToolSpec, serve


def spec() -> ServerSpec:
    return ServerSpec(
        name="everyday",
        title="Dates, text and numbers",
        instructions="Dates are written YYYY-MM-DD, time zones by their IANA name, units by their symbol.",
        tools=(
            ToolSpec(dates.current_time, "Current time", READS),
            ToolSpec(dates.convert_time, "Convert between time zones", READS),
            ToolSpec(dates.add_to_date, "Add to a date", READS),
            ToolSpec(dates.days_between, "Days between dates", READS),
            ToolSpec(dates.list_time_zones, "List time zones", READS),
            ToolSpec(text.count_words, "Count words", READS),
            ToolSpec(text.slugify, "Make a slug", READS),
            ToolSpec(text.change_case, "Change case", READS),
            ToolSpec(text.replace_text, "Find and replace", READS),
            ToolSpec(text.compare_texts, "Compare two texts", READS),
            ToolSpec(text.hash_text, "Hash a text", READS),
            ToolSpec(text.base64_text, "Base64", READS),
            ToolSpec(reckoning.calculate, "Calculator", READS),
            ToolSpec(reckoning.convert_units, "Convert units", READS),
            ToolSpec(reckoning.describe_numbers, "Statistics", READS),
            ToolSpec(reckoning.percentage, "Percentages", READS),
        ),
    )


def main() -> None:
    description = "MCP server over stdio: dates, text and numbers."
    argparse.ArgumentParser(prog="server.demo.everyday", description=description).parse_args()
    serve(spec())


if __name__ == "__main__":
    main()
