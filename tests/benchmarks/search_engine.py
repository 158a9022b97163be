"""The product's own index behind the scorer's JSON lines, one object each way:

{"op": "index", "tools": [{id, server, name, description, input_schema}, ...]} -> {"ok": true}
{"op": "search", "query": "...", "k": 20}                                      -> {"ids": ["...", ...]}

"""

import json
import sys

from index import Exposure, JsonObject, SearchIndex, Tool


def tool_of(record: JsonObject) -> Tool:
    """The tool that a record of the public sets describes. Ids of the sets are of any shape and stay as they are."""
    definition: JsonObject = {
        "name": record["name"],
        "description": record.get("description"),
        "inputSchema": record.get("input_schema"),
    }
    server, name = str(record.get("server") or ""), str(record["name"])
    return Tool(f"mcp:{record['id']}", "mcp", server, name, definition, Exposure.CATALOG, "", False, False)


def main() -> None:
    index = SearchIndex.build(())
    for line in sys.stdin:
        request = json.loads(line)
        answer: JsonObject
        if request["op"] == "index":
            index = SearchIndex.build([tool_of(record) for record in request["tools"]])
            index.warm()
            answer = {"ok": True}
        else:
            matches = index.search(request["query"], request["k"])
            answer = {"ids": [match.tool_id.removeprefix("mcp:") for match in matches]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
