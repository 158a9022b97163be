"""Evaluates an arithmetic expression from outside: numbers, operators and a fixed list of functions, nothing else.

Laws:
1. The text is parsed, never compiled or run: a node that is not in a table here is refused.
2. Every value stays within `MAX_BITS` and every tree within `MAX_DEPTH`, checked before the work is done.
"""

import ast
import math
import operator
from collections.abc import Callable
from types import MappingProxyType
from typing import TypeAlias

Number: TypeAlias = int | float

MAX_CHARS = 500
# A plain sum nests once per term: this lets every sum through that fits, and stays far from the recursion limit.
MAX_DEPTH = 250
# Whole numbers are exact up to about 1,200 digits; that stays far below what takes noticeable time.
MAX_BITS = 4_096
MAX_FACTORIAL = 400
MAX_ROUNDED_DIGITS = 300  # round(1, -10**9) would first compute 10 to that power
MAX_ARGUMENTS = 20

CONSTANTS = MappingProxyType({"pi": math.pi, "e": math.e, "tau": math.tau})
_BINARY: MappingProxyType[type[ast.operator], Callable[[Number, Number], Number]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
    }
)
_UNARY: MappingProxyType[type[ast.unaryop], Callable[[Number], Number]] = MappingProxyType(
    {ast.UAdd: operator.pos, ast.USub: operator.neg}
)


class ExpressionError(Exception):
    """The expression is not arithmetic, has no value, or would take too much; the text says which."""


def evaluate(expression: str) -> Number:
    """The value of an expression such as `2 * (3 + sqrt(16)) ** 2`.

    Raises:
        ExpressionError: with a reason for the caller.
    """
    if len(expression) > MAX_CHARS:
        raise ExpressionError(f"longer than {MAX_CHARS} characters")
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body, 0)
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise ExpressionError("not an expression; write it like 2 * (3 + 4)") from error
    except ZeroDivisionError as error:
        raise ExpressionError("a division by zero") from error
    except OverflowError as error:
        raise ExpressionError("too large a number on the way") from error


def _value(node: ast.expr, depth: int) -> Number:
    if depth > MAX_DEPTH:
        raise ExpressionError(f"nested deeper than {MAX_DEPTH} levels")
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _checked(value)
        case ast.Name(id=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_value(operand, depth + 1))
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(op, _value(left, depth + 1), _value(right, depth + 1))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            return _call(name, [_value(argument, depth + 1) for argument in arguments[: MAX_ARGUMENTS + 1]])
    raise ExpressionError(
        f"only numbers, + - * / // % ** and parentheses, {', '.join(CONSTANTS)}, and {', '.join(FUNCTIONS)}"
    )


def _binary(op: ast.operator, left: Number, right: Number) -> Number:
    if isinstance(op, ast.Pow):
        return _checked(_power(left, right))
    if type(op) not in _BINARY:
        raise ExpressionError("only the operators + - * / // % **")
    return _checked(_BINARY[type(op)](left, right))


def _power(base: Number, exponent: Number) -> Number:
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and abs(base) > 1 and math.log2(abs(base)) * abs(exponent) > MAX_BITS:
        raise ExpressionError("too large a power")
    if base < 0 and not float(exponent).is_integer():
        raise ExpressionError("a broken power of a negative number")
    return base**exponent


def _call(name: str, arguments: list[Number]) -> Number:
    try:
        return _checked(FUNCTIONS[name](*arguments))
    except (TypeError, ValueError) as error:
        raise ExpressionError(f"{name} does not take these arguments") from error


def _round(number: Number, digits: int = 0) -> Number:
    if not -MAX_ROUNDED_DIGITS <= digits <= MAX_ROUNDED_DIGITS:
        raise ExpressionError(f"round takes at most {MAX_ROUNDED_DIGITS} digits")
    return round(number, digits) if digits else round(number)


def _factorial(number: Number) -> Number:
    if not isinstance(number, int) or number > MAX_FACTORIAL:
        raise ExpressionError(f"factorial takes a whole number up to {MAX_FACTORIAL}")
    return math.factorial(number)


def _checked(value: Number) -> Number:
    if isinstance(value, float) and not math.isfinite(value):
        raise ExpressionError("no finite value")
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise ExpressionError("too large a number")
    return value


FUNCTIONS: MappingProxyType[str, Callable[..., Number]] = MappingProxyType(
    {
        "abs": abs,
        "round": _round,
        "min": min,
        "max": max,
        "sqrt": math.sqrt,
        "floor": math.floor,
        "ceil": math.ceil,
        "exp": math.exp,
        "log": math.log,
        "log2": math.log2,
        "log10": math.log10,
        "sin": math.sin,
        "cos": math.cos,
        "tan": math.tan,
        "asin": math.asin,
        "acos": math.acos,
        "atan": math.atan,
        "degrees": math.degrees,
        "radians": math.radians,
        "hypot": math.hypot,
        "gcd": math.gcd,
        "factorial": _factorial,
    }
)
