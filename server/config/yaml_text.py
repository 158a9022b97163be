"""YAML text becomes plain JSON values. The only file that imports PyYAML; imported only for a file that needs it.

Laws:
1. Plain scalars mean what YAML 1.2 says: `yes`, `on`, `22:22` and `2026-11-30` are text. Keys are always text.
2. Aliases count as what they stand for, every time: a short file cannot become a large tree.
3. No tags: nothing but objects, lists and scalars is ever built.
"""

import re

import yaml

from server.config.text import BadText, Pairs

# All nodes, with aliases written out. A configuration has a few thousand.
MAX_NODES = 50_000

_MERGE = "tag:yaml.org,2002:merge"
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?\Z|[-+]?[0-9]+[eE][-+]?[0-9]+\Z")


def read_yaml(text: str, pairs: Pairs) -> object:
    """Raises: BadText."""
    try:
        value: object = _Loader(text, pairs).get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        fix = "Look at the indentation, and for a missing quote or colon, here or just before."
        raise BadText("this is not YAML that can be read here", fix, line, column) from None
    except yaml.YAMLError:
        raise BadText("the file has characters that YAML does not allow", "Save it as plain text in UTF-8.") from None
    except ValueError:  # what Python says of a whole number of thousands of digits
        raise BadText("a number in it has too many digits", "Write a smaller number.") from None
    return value


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - filled below

    def __init__(self, text: str, pairs: Pairs) -> None:
        super().__init__(text)
        self._pairs = pairs
        self._nodes = 0
        self._weights: dict[str, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = yaml.parser.Parser.peek_event(self)
        anchor: str | None = getattr(event, "anchor", None)
        before = self._nodes
        if isinstance(event, yaml.AliasEvent) and anchor in self.anchors:
            # Of a name that is still being composed the weight is not known: the alias stands inside itself.
            self._count(self._weights.get(anchor or "", MAX_NODES + 1))
            return super().compose_node(parent, index)
        self._count(1)
        node = super().compose_node(parent, index)
        if anchor is not None:
            self._weights[anchor] = self._nodes - before
        return node

    def _count(self, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise BadText("its aliases amount to too much", "Write out what they stand for, or leave it out.")

    def mapping(self, node: yaml.MappingNode) -> dict[str, object]:
        own = sum(key.tag != _MERGE for key, _ in node.value)
        self.flatten_mapping(node)  # puts what `<<` brings before what is written
        found = [(self._key(key), self.construct_object(value, deep=True)) for key, value in node.value]
        inherited, written = found[: len(found) - own], found[len(found) - own :]
        built = self._pairs(written)
        for name, value in reversed(inherited):
            built.setdefault(name, value)
        return built

    def _key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            mark = node.start_mark
            raise BadText("a key is not plain text", "Write a name before the colon.", mark.line + 1, mark.column + 1)
        return str(node.value)


for _tag, _shape, _starts in (
    ("null", re.compile(r"(?:~|null|Null|NULL|)\Z"), ["~", "n", "N", ""]),
    ("bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), list("tTfF")),
    ("int", _INTEGER, list("-+0123456789")),
    ("float", _FLOAT, list("-+.0123456789")),
    ("merge", re.compile(r"<<\Z"), ["<"]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _shape, _starts)
_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.mapping)
