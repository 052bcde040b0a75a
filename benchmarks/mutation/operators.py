"""Operators: the small faults that a node of the syntax tree can have, as a piece of a line and what stands there instead."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

COMPARE: dict[type, str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
ARITHMETIC: dict[type, str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "/",
    ast.Mod: "*",
    ast.Pow: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.MatMult: "*",
}
TWINS = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "floor": "trunc",
    "trunc": "floor",
    "ceil": "floor",
    "round": "floor",
    "sum": "max",
    "mean": "median",
    "median": "mean",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmax": "argmin",
    "argmin": "argmax",
    "nanmean": "mean",
    "zeros": "ones",
    "ones": "zeros",
    "sorted": "list",
}
CRUDE = {"return nothing", "last argument dropped"}  # most tests notice them: only where a line has nothing finer
NO_KEYWORDS = {
    "strict",
    "help",
    "text",
    "label",
    "name",
    "stacklevel",
    "dtype",
    "encoding",
    "desc",
    "metavar",
}  # words, or no change


class Place(NamedTuple):
    """A piece of the source: line and characters from and to (UTF-8 bytes, as the syntax tree counts)."""

    line: int
    start: int
    end: int


class Fault(NamedTuple):
    """What stands at a place instead, and the operator that put it there."""

    place: Place
    text: str
    operator: str


def place_of(node: ast.AST) -> Place | None:
    """Where a node is, if on one line."""
    line, end = getattr(node, "lineno", 0), getattr(node, "end_lineno", -1)
    return Place(line, node.col_offset, node.end_col_offset) if line == end else None  # type: ignore[attr-defined]


def between(before: ast.AST, after: ast.AST) -> Place | None:
    """What is between two nodes of one line: the operator, with the space around it."""
    left, right = place_of(before), place_of(after)
    if left is None or right is None or left.line != right.line:
        return None
    return Place(left.line, left.end, right.start)


def faults(node: ast.AST, text: Callable[[Place], str]) -> Iterator[Fault]:
    """All faults of a node; `text` is what stands at a place."""
    for kind, make in FAULTS.items():
        if isinstance(node, kind):
            for place, new, operator in make(node, text):
                if place is not None and text(place) != new:
                    yield Fault(place, new, operator)


Found = Iterator[tuple[Place | None, str, str]]
Text = Callable[[Place], str]


def swapped(place: Place | None, new: str, text: Text) -> tuple[Place | None, str]:
    """An operator in the place of another; parentheses around it are kept."""
    if place is None:
        return None, ""
    here = text(place)
    old = here.strip("() ")
    return place, here.replace(old, new, 1)


def of_compare(node: ast.Compare, text: Text) -> Found:
    sides = [node.left, *node.comparators]
    for number, operator in enumerate(node.ops):
        place, new = swapped(between(sides[number], sides[number + 1]), COMPARE[type(operator)], text)
        yield place, new, "compare"


def of_arithmetic(node: ast.BinOp, text: Text) -> Found:
    if any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in (node.left, node.right)):
        return  # a path or a text
    place, new = swapped(between(node.left, node.right), ARITHMETIC.get(type(node.op), "+"), text)
    yield place, new, "arithmetic"


def of_logic(node: ast.BoolOp, text: Text) -> Found:
    for before, after in zip(node.values, node.values[1:]):
        place, new = swapped(between(before, after), "or" if isinstance(node.op, ast.And) else "and", text)
        yield place, new, "logic"


def of_unary(node: ast.UnaryOp, text: Text) -> Found:
    inner, place = place_of(node.operand), place_of(node)
    if inner is not None and place is not None and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield place, f"({text(inner)})", "negation"


def of_test(node: ast.If | ast.IfExp | ast.While, text: Text) -> Found:
    place = place_of(node.test)
    if place is not None:
        yield place, f"not ({text(place)})", "negation"


def of_constant(node: ast.Constant, text: Text) -> Found:
    value = node.value
    if isinstance(value, bool):
        yield place_of(node), str(not value), "constant"
    elif isinstance(value, int | float):
        whole = value == int(value)
        yield place_of(node), repr(value + 1 if whole else 2 * value), "constant"
        yield place_of(node), repr(value - 1 if whole else value / 2), "constant"


def of_call(node: ast.Call, text: Text) -> Found:
    function = node.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    place = place_of(function)
    if name in TWINS and place is not None:
        yield Place(place.line, place.end - len(name), place.end), TWINS[name], "twin"
    parts = [*node.args, *node.keywords]
    for number, part in enumerate(parts):
        if isinstance(part, ast.keyword) and part.arg not in NO_KEYWORDS:
            yield without(parts, number), "", "argument dropped"
        elif number and number == len(parts) - 1 and not node.keywords and name not in {"isinstance", "__setattr__"}:
            yield without(parts, number), "", "last argument dropped"


def of_display(node: ast.Tuple | ast.List | ast.Set, text: Text) -> Found:
    if isinstance(node.ctx if not isinstance(node, ast.Set) else ast.Load(), ast.Load) and len(node.elts) > 1:
        for number in range(len(node.elts)):
            if len(node.elts) > 2 or not isinstance(node, ast.Tuple):
                yield without(node.elts, number), "", "element dropped"


def of_dict(node: ast.Dict, text: Text) -> Found:
    entries = [ast.Tuple() for _ in node.keys]
    for entry, key, value in zip(entries, node.keys, node.values):
        first = key or value
        entry.lineno, entry.end_lineno = first.lineno, value.end_lineno
        entry.col_offset = first.col_offset - (0 if key else 2)  # the stars of an unpacked dict
        entry.end_col_offset = value.end_col_offset
    for number in range(len(entries) if len(entries) > 1 else 0):
        yield without(entries, number), "", "element dropped"


def of_return(node: ast.Return, text: Text) -> Found:
    if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield place_of(node), "return None", "return nothing"


def of_statement(node: ast.Expr, text: Text) -> Found:
    if isinstance(node.value, ast.Call):
        yield place_of(node), "pass", "call dropped"


def of_update(node: ast.AugAssign, text: Text) -> Found:
    place, new = swapped(between(node.target, node.value), ARITHMETIC.get(type(node.op), "+") + "=", text)
    yield place, new, "arithmetic"


def of_jump(node: ast.Continue | ast.Break, text: Text) -> Found:
    yield place_of(node), "break" if isinstance(node, ast.Continue) else "continue", "jump"


def without(parts: list, number: int) -> Place | None:  # type: ignore[type-arg]
    """The place of a part and of the comma beside it."""
    part = place_of(parts[number])
    if part is None:
        return None
    if number + 1 < len(parts):
        after = parts[number + 1]
        return (
            Place(part.line, part.start, after.col_offset)
            if after.lineno == part.line
            else part._replace(end=part.end + 1)
        )
    before = parts[number - 1] if number else None
    if before is not None and before.end_lineno == part.line:
        return Place(part.line, before.end_col_offset, part.end)
    return part


FAULTS: dict[type | tuple[type, ...], Callable[..., Found]] = {
    ast.Compare: of_compare,
    ast.BinOp: of_arithmetic,
    ast.BoolOp: of_logic,
    ast.UnaryOp: of_unary,
    (ast.If, ast.IfExp, ast.While): of_test,
    ast.Constant: of_constant,
    ast.Call: of_call,
    (ast.Tuple, ast.List, ast.Set): of_display,
    ast.Dict: of_dict,
    ast.Return: of_return,
    ast.Expr: of_statement,
    ast.AugAssign: of_update,
    (ast.Continue, ast.Break): of_jump,
}
