"""Small faults that a test should notice, one at a time, in the syntax tree of a module.

A change has a text that does not depend on line numbers, so that a list of survivors outlives edits
elsewhere. Messages, annotations, decorators and asserts are left alone.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_PAIRS = (
    ("min", "max"),
    ("floor", "ceil"),
    ("any", "all"),
    ("lower", "upper"),
    ("minimum", "maximum"),
    ("bisect_left", "bisect_right"),
)
_NAMES = {a: b for one, other in _PAIRS for a, b in ((one, other), (other, one))}
_ORDERLESS = frozenset({"isinstance", "issubclass", "min", "max", "zip", "gcd", "lcm"})
_SHORT = 24  # characters: a text this short is shown with what is around it
_SKIPPED = {"annotation", "returns", "decorator_list", "type_comment", "ctx"}
_AROUND = (
    *(ast.expr, ast.comprehension, ast.keyword, ast.Slice),
    *(ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr),
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Change:
    """What is changed where: the function's qualified name, and the text before and after."""

    function: str
    text: str
    line: int
    inside: bool  # of a body, so that it takes effect in a module that is imported already


@dataclass(frozen=True)
class _Place:
    """Where a node is: its parent's field, or its place in a list there."""

    above: tuple[ast.AST, ...]  # from the module down to the parent
    field: str
    number: int | None
    function: str
    inside: bool

    def put(self, node: ast.AST) -> None:
        """Put a node there."""
        if self.number is None:
            setattr(self.above[-1], self.field, node)
        else:
            getattr(self.above[-1], self.field)[self.number] = node


def changes(tree: ast.Module) -> Iterator[Change]:
    r"""Every change; the tree has it while the iterator stands there, and is as before at its end.

    >>> tree = ast.parse("def few(n):\n    return n < 3")
    >>> for change in changes(tree):
    ...     print(change.function, "|", change.text, "|", ast.unparse(tree).split()[-2:])
    few | return n < 3  =>  return n <= 3 | ['<=', '3']
    few | return n < 3  =>  return n >= 3 | ['>=', '3']
    few | return n < 3  =>  return n < 4 | ['<', '4']
    few | return n < 3  =>  return n < 2 | ['<', '2']
    """
    seen: Counter[tuple[str, str]] = Counter()
    for node, place in list(_walk(tree, (), "", False)):
        for new in _instead(node, place):
            shown = _shown(node, place)
            before = _text(shown)
            place.put(ast.fix_missing_locations(ast.copy_location(new, node)))
            after = _text(new if shown is node else shown)
            text = f"{before}  =>  {after}"
            seen[place.function, text] += 1
            again = seen[place.function, text]
            name = text if again == 1 else f"{text}  (no. {again})"
            yield Change(place.function, name, getattr(node, "lineno", 0), place.inside)
            place.put(node)


def _walk(
    node: ast.AST, above: tuple[ast.AST, ...], function: str, inside: bool
) -> Iterator[tuple[ast.AST, _Place]]:
    """Every node that may be changed, with its place."""
    for field, value in ast.iter_fields(node):
        if field in _SKIPPED or _is_left_alone(node, field):
            continue
        children = value if isinstance(value, list) else [value]
        for number, child in enumerate(children):
            if not isinstance(child, ast.AST):
                continue
            at = number if isinstance(value, list) else None
            body = inside or (isinstance(node, _FUNCTIONS) and field == "body")
            yield child, _Place((*above, node), field, at, function or "(module)", body)
            name = function
            if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
                name = f"{function}.{child.name}" if function else child.name
            yield from _walk(child, (*above, node), name, body)


def _is_left_alone(node: ast.AST, field: str) -> bool:
    """Whether a part only says something to people or to a type checker."""
    match node:
        case ast.Raise() | ast.JoinedStr() | ast.Assert():
            return True
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Call(func=ast.Name(id="cast" | "TypeVar" | "NewType" | "dataclass" | "field")):
            return True
    return False


def _instead(node: ast.AST, place: _Place) -> Iterator[ast.AST]:
    """What may stand there instead."""
    match node:
        case ast.Compare():
            for number, op in enumerate(node.ops):
                for other in _COMPARED[type(op)]:
                    changed = copy.deepcopy(node)
                    changed.ops[number] = other()
                    yield changed
            yield from _with_less_compared(node)
        case ast.BoolOp():
            for number in range(len(node.values)):
                left = [value for at, value in enumerate(node.values) if at != number]
                yield left[0] if len(left) == 1 else ast.BoolOp(node.op, left)
        case ast.BinOp(op=ast.FloorDiv()):  # rounded up instead of down
            down = ast.BinOp(ast.UnaryOp(ast.USub(), node.left), node.op, node.right)
            yield ast.UnaryOp(ast.USub(), down)
        case ast.BinOp() if type(node.op) in _COMPUTED and not _is_text(node):
            yield ast.BinOp(node.left, _COMPUTED[type(node.op)](), node.right)
        case ast.AugAssign() if type(node.op) in _COMPUTED:
            yield ast.AugAssign(node.target, _COMPUTED[type(node.op)](), node.value)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.IfExp() | ast.If() | ast.While():
            if not isinstance(node.test, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant):
                changed_test = copy.copy(node)
                changed_test.test = ast.UnaryOp(ast.Not(), node.test)
                yield changed_test
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
            if value > 0:
                yield ast.Constant(value - 1)
        case ast.Call():
            yield from _other_calls(node)
        case ast.For() | ast.comprehension():
            for cut in ("{}[1:]", "{}[:-1]"):  # the first is left out, or the last
                iterated = ast.parse(cut.format("list(x)"), mode="eval").body
                assert isinstance(iterated, ast.Subscript)
                assert isinstance(iterated.value, ast.Call)
                iterated.value.args = [node.iter]
                shorter = copy.copy(node)
                shorter.iter = iterated
                yield shorter
            if isinstance(node, ast.comprehension):
                for number in range(len(node.ifs)):
                    yield ast.comprehension(
                        node.target,
                        node.iter,
                        [test for at, test in enumerate(node.ifs) if at != number],
                        node.is_async,
                    )
        case ast.Raise() | ast.Continue() | ast.Break():
            yield ast.Pass()
        case ast.Return() if not isinstance(place.above[-1], _FUNCTIONS):
            yield ast.Pass()
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom() | ast.Await()):
            yield ast.Pass()


def _with_less_compared(node: ast.Compare) -> Iterator[ast.AST]:
    """Two tuples compared without one of their places."""
    match node:
        case ast.Compare(left=ast.Tuple() as left, comparators=[ast.Tuple() as right]):
            if len(left.elts) == len(right.elts) > 1:
                for place in range(len(left.elts)):
                    changed = copy.deepcopy(node)
                    for part in (changed.left, changed.comparators[0]):
                        assert isinstance(part, ast.Tuple)
                        del part.elts[place]
                    yield changed


def _other_calls(node: ast.Call) -> Iterator[ast.AST]:
    """A call of the opposite function, with exchanged arguments, or left out."""
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    if name in _NAMES:
        func = copy.deepcopy(node.func)
        if isinstance(func, ast.Name):
            func.id = _NAMES[name]
        elif isinstance(func, ast.Attribute):
            func.attr = _NAMES[name]
        yield ast.Call(func, node.args, node.keywords)
    plain = not any(isinstance(given, ast.Starred) for given in node.args)
    if len(node.args) == 2 and plain and name not in _ORDERLESS:
        first, second = node.args
        if ast.dump(first) != ast.dump(second):
            yield ast.Call(node.func, [second, first], node.keywords)
    if name == "abs" and len(node.args) == 1:
        yield node.args[0]


def _is_text(node: ast.BinOp) -> bool:
    """Whether strings are joined or types united."""
    return any(
        isinstance(part, ast.JoinedStr)
        or (isinstance(part, ast.Constant) and (part.value is None or isinstance(part.value, str)))
        for part in ast.walk(node)
    )


def _shown(node: ast.AST, place: _Place) -> ast.AST:
    """The part whose text names the change: the node, or what is around it if that is short."""
    shown = node
    for outer in reversed(place.above):
        if isinstance(shown, ast.stmt) or len(_text(shown)) >= _SHORT:
            break
        if not isinstance(outer, _AROUND):
            break
        shown = outer
    return shown


def _text(node: ast.AST) -> str:
    """The source of a node; of a statement with a body, its head."""
    match node:
        case ast.If() | ast.While():
            return f"{'if' if isinstance(node, ast.If) else 'while'} {ast.unparse(node.test)}"
        case ast.For():
            return f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}"
        case ast.Pass():
            return "pass"
        case ast.Raise(exc=ast.Call() as call):
            return f"raise {ast.unparse(call.func)}({_words(call)})"
    return ast.unparse(node).strip()


def _words(call: ast.Call) -> str:
    """The first words of a message, which tell one refusal from another."""
    for part in ast.walk(call):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            return repr(part.value[:60])
    return ", ".join(ast.unparse(given) for given in call.args)[:60]
