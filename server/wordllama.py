"""The small dense model of the package `wordllama` (the extra `toolfold[semantic]`), read from the files that it brings.

A table of 32,000 word pieces with 256 numbers each; the vector of a text is their mean. The package itself is never
imported: it would look for its tokenizer where it does not put it, and fetch one from a hub. The only file that uses
numpy, tokenizers and safetensors; nothing is downloaded.
"""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from index import Near
from server.semantics import NoModel, Vector

PACKAGE: Final = "wordllama"
INSTALL: Final = "pip install 'wordllama>=0.4,<0.5'"
WEIGHTS: Final = Path("weights", "l2_supercat_256.safetensors")
TOKENIZER: Final = Path("tokenizers", "l2_supercat_tokenizer_config.json")


def is_installed() -> bool:
    """Whether the package is there."""
    return find_spec(PACKAGE) is not None


class WordLlama:
    """The table and the tokenizer. Used in several threads."""

    def __init__(self, table: Any, tokenizer: Any) -> None:  # noqa: ANN401  (of libraries that may not be there)
        self._table = table
        self._tokenizer = tokenizer

    def __repr__(self) -> str:
        return f"<WordLlama {self._table.shape}>"

    @classmethod
    def load(cls) -> "WordLlama":
        """Takes half a second and 80 MB: call it from a worker thread.

        Raises:
            NoModel: the package is not installed, or not whole.
        """
        spec = find_spec(PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise NoModel(f"the package {PACKAGE} is not installed. Install it: {INSTALL}")
        folder = Path(spec.submodule_search_locations[0])
        try:
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer

            (table,) = load_file(folder / WEIGHTS).values()
            return cls(table, Tokenizer.from_file(str(folder / TOKENIZER)))
        except Exception as error:  # noqa: BLE001  (tokenizers raises nothing narrower)
            kind = type(error).__name__
            raise NoModel(f"the package {PACKAGE} cannot be used ({kind}). Install it anew: {INSTALL}") from None

    def vectors(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Each of length 1, or 0 where there is no text."""
        encoded = self._tokenizer.encode_batch([_writable(text) for text in texts], add_special_tokens=False)
        return [self._mean(one.ids) for one in encoded]

    def near(self, ids: Sequence[str], vectors: Sequence[Vector]) -> Near:
        """Closeness to these tools, which are compared with each query."""
        import numpy

        matrix: Any = numpy.stack(vectors) if vectors else numpy.zeros((0, self._table.shape[1]), numpy.float32)
        places = {tool_id: place for place, tool_id in enumerate(ids)}

        def near(query: str, count: int, others: Sequence[str]) -> Mapping[str, float]:
            asked = self._mean(self._tokenizer.encode(_writable(query), add_special_tokens=False).ids)
            closeness = numpy.einsum("ij,j->i", matrix, asked)  # in this thread, where `@` would wait for others
            nearest = numpy.argsort(-closeness, kind="stable")[:count]
            wanted = {*map(int, nearest), *(places[one] for one in others if one in places)}
            return {ids[place]: float(closeness[place]) for place in wanted}

        return near

    def _mean(self, pieces: Sequence[int]) -> Any:  # noqa: ANN401
        import numpy

        if not pieces:
            return numpy.zeros(self._table.shape[1], numpy.float32)
        mean = self._table[pieces].astype(numpy.float32).mean(0)
        return mean / (numpy.linalg.norm(mean) or 1.0)


def _writable(text: str) -> str:
    """Without halves of surrogate pairs, which the tokenizer cannot take."""
    return text.encode("utf-8", "replace").decode()
