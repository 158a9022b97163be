"""What a model sent, turned into what the tool's schema wants, or into an answer that says what to send instead.

Pure and synchronous: no I/O, no clock, no state between calls. jsonschema, referencing and re2 are imported when the
first schema is compiled.
"""

from server.arguments.check import ArgumentCheck, Prepared, ResultCheck
from server.arguments.explain import explain
from server.arguments.problems import InvalidArguments, Problem, UnusableSchema

__all__ = ["ArgumentCheck", "InvalidArguments", "Prepared", "Problem", "ResultCheck", "UnusableSchema", "explain"]
