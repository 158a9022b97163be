"""The product's own index behind the scorer's JSON lines, one object each way:

{"op": "index", "tools": [{id, server, name, description, input_schema}, ...]} -> {"ok": true}
{"op": "search", "query": "...", "k": 20}                                      -> {"ids": ["...", ...]}

With `--semantic` it goes by meaning too, and needs the extra `toolfold[semantic]`.
"""

import json
import sys
from collections.abc import Sequence

from index import Exposure, JsonObject, Near, SearchIndex, Tool, meaning_text
from server.wordllama import WordLlama


def tool_of(record: JsonObject) -> Tool:
    """The tool that a record of the public sets describes. Ids of the sets are of any shape and stay as they are."""
    definition: JsonObject = {
        "name": record["name"],
        "description": record.get("description"),
        "inputSchema": record.get("input_schema"),
    }
    server, name = str(record.get("server") or ""), str(record["name"])
    return Tool(f"mcp:{record['id']}", "mcp", server, name, definition, Exposure.CATALOG, "", False, False)


def meaning_of(tools: Sequence[Tool]) -> Near:
    """What a gateway with `semantic` goes by beside words."""
    model = WordLlama.load()
    return model.near([tool.id for tool in tools], model.vectors([meaning_text(tool) for tool in tools]))


def main(*, semantic: bool) -> None:
    index, near = SearchIndex.build(()), None
    for line in sys.stdin:
        request = json.loads(line)
        answer: JsonObject
        if request["op"] == "index":
            tools = [tool_of(record) for record in request["tools"]]
            index, near = SearchIndex.build(tools), meaning_of(tools) if semantic else None
            index.warm()
            answer = {"ok": True}
        else:
            matches = index.search(request["query"], request["k"], near)
            answer = {"ids": [match.tool_id.removeprefix("mcp:") for match in matches]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(semantic="--semantic" in sys.argv)
