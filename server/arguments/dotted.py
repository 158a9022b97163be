"""Dotted keys: `{"user.name": …}` for an object where `user` has `name` and no key is called "user.name".

What stands at the place already is never replaced; such a key stays where it was sent.
"""

from collections.abc import Mapping, Sequence

from server.arguments.bounds import Budget
from server.arguments.document import Document
from server.arguments.names import names_of

# Dots that a key may have: deeper than people nest parameters.
MAX_DOTS = 8


class DottedKeys:
    """Where the dotted keys of one call lead. Pays with its budget."""

    def __init__(self, document: Document, budget: Budget) -> None:
        self._document = document
        self._budget = budget
        self._known: dict[int, Mapping[str, object]] = {}
        self._maps: dict[int, bool] = {}

    def lead(self, key: str, schema: object) -> list[str] | None:
        """The steps to the declared place that an undeclared key means; None when it means none.

        Raises: GaveUp.
        """
        steps = key.split(".", MAX_DOTS)
        if len(steps) == 1 or key in self.declared(schema):
            return None
        for step in steps:
            self._budget.spend(1)
            declared = self.declared(schema)
            if step not in declared:
                return None
            schema = declared[step]
        return steps

    def unfolded(self, sent: dict[str, object], schema: object) -> dict[str, object]:
        """The object with its dotted keys put where they lead; the same one where there are none.

        Raises: GaveUp.
        """
        result = dict(sent)
        for key, value in sent.items():
            steps = self.lead(key, schema) if "." in key else None
            if steps is not None and _put(result, steps, value):
                del result[key]
        return sent if len(result) == len(sent) and result.keys() == sent.keys() else result

    def unfolded_within(self, sent: dict[str, object], schema: object) -> dict[str, object]:
        """The same for the objects that stand in it as declared properties, too.

        Raises: GaveUp.
        """
        self._budget.spend(1)
        result = sent
        if any("." in key for key in sent) and not self._others_count(schema):
            result = self.unfolded(sent, schema)
        for key, value in result.items():
            if isinstance(value, dict) and key in self.declared(schema):
                inner = self.unfolded_within(value, self.declared(schema)[key])
                if inner is not value:
                    result = {**result, key: inner}
        return result

    def declared(self, schema: object) -> Mapping[str, object]:
        """The document's answer, asked for once in a call: an object may have thousands of dotted keys."""
        if id(schema) not in self._known:
            self._known[id(schema)] = self._document.declared(schema)
        return self._known[id(schema)]

    def _others_count(self, schema: object) -> bool:
        if id(schema) not in self._maps:
            self._maps[id(schema)] = names_of(self._document, schema).others_count
        return self._maps[id(schema)]


def _put(target: dict[str, object], steps: Sequence[str], value: object) -> bool:
    """Put a value into nested objects, copying those on the way; False when something stands there already."""
    inner: object = target
    for step in steps[:-1]:
        inner = inner.get(step, {}) if isinstance(inner, dict) else None
    if not isinstance(inner, dict) or steps[-1] in inner:
        return False
    for step in steps[:-1]:
        below = target.get(step, {})
        assert isinstance(below, dict)
        target[step] = below = dict(below)
        target = below
    target[steps[-1]] = value
    return True
