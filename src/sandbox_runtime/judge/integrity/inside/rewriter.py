"""The tests' text as code: compared things go through the Comparer, builtins that the solution shadows are the real ones.

The Comparer is put into the constants of the code, where no name leads to it. Functions of the tests that only compute, with
loops and without assertions, are left as they are: a reference implementation shall not become slow.
"""

from __future__ import annotations

import ast
import builtins
from types import CodeType
from typing import Any

from .comparer import Comparer  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us
from .reporter import BUILTINS  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us

globals()["__builtins__"] = BUILTINS

_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.In: "contains",
    ast.NotIn: "not_contains",
    ast.Is: "same",
    ast.IsNot: "differs",
}
_IDENTITIES = (ast.Is, ast.IsNot)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LOOPS = (ast.For, ast.While, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LITERALS = (ast.Constant, ast.Name, ast.List, ast.Tuple, ast.Dict, ast.Set)
_PAIRS = ("Equal", "Equals", "In")
_NUMPY = ("np", "numpy")
_BUILTINS = frozenset(vars(builtins))


def compile_tests(text: str, filename: str, comparer: Comparer, flags: int, shadowed: frozenset[str]) -> CodeType:
    """shadowed: builtins to which the solution gave another meaning. Raises SyntaxError as compile does."""
    tree = ast.parse(text, filename)
    marker = f"\x1e{id(comparer)}"
    _Rewriter(marker, shadowed).module(tree)
    code = compile(tree, filename, "exec", flags=flags, dont_inherit=True)
    return _with_constant(code, marker, comparer)


def _with_constant(code: CodeType, marker: str, value: object) -> CodeType:
    constants = tuple(
        _with_constant(one, marker, value) if isinstance(one, CodeType) else value if one == marker and type(one) is str else one
        for one in code.co_consts
    )
    return code.replace(co_consts=constants)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, marker: str, shadowed: frozenset[str]) -> None:
        self._marker = marker
        self._shadowed = shadowed
        self._own: frozenset[str] = frozenset()

    def module(self, tree: ast.Module) -> None:
        body: list[ast.stmt] = []
        ours, defined = _stable_definitions(tree), set[str]()
        for statement in tree.body:
            if isinstance(statement, _DEFINITIONS):
                self._own = frozenset()
                body.append(self.visit(statement))
                if statement.name in ours:
                    body.append(self._bound(statement))
                    defined.add(statement.name)
            else:
                self._own = frozenset(defined)
                body.append(self.visit(statement))
        tree.body = body

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """What it is given may have the name of a definition."""
        kept, self._own = self._own, frozenset()
        self.generic_visit(node)
        self._own = kept
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node if _is_pure_helper(node) else self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node if _is_pure_helper(node) else self.generic_visit(node)

    def visit_List(self, node: ast.List) -> ast.AST:
        return node if all(type(one) is ast.Constant for one in node.elts) else self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        values = [node.left, *node.comparators]
        if all(map(_is_constant, values)) or all(isinstance(one, _IDENTITIES) for one in node.ops):
            return node
        names = [_OPERATORS[type(one)] for one in node.ops]
        if len(names) == 1:
            return self._call(names[0], values, node)
        told = ast.copy_location(ast.Constant(tuple(names)), node)  # type: ignore[arg-type]
        return self._call("chain", [told, *values], node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """In the outermost code of the tests: what they defined, whoever changed the meaning of its name since."""
        if node.id not in self._own or not isinstance(node.ctx, ast.Load):
            return node
        return self._call("own", [ast.copy_location(ast.Constant(node.id), node)], node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return self._call("sub", [node.left, node.right], node) if isinstance(node.op, ast.Sub) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self._restore(node)
        self.generic_visit(node)
        function = node.func
        if not isinstance(function, ast.Attribute):
            return node
        if function.attr.startswith("assert") and function.attr.endswith(_PAIRS) and len(node.args) >= 2:
            if not any(isinstance(one, ast.Starred) for one in node.args[:2]):
                paired = ast.copy_location(ast.Starred(self._call("pair", node.args[:2], node), ast.Load()), node)
                node.args[:2] = [paired]
        elif _root_name(function) in _NUMPY:
            node.args = [
                one if isinstance(one, (ast.Starred, *_LITERALS)) else self._call("shown", [one], one) for one in node.args
            ]
        return node

    def _restore(self, node: ast.Call) -> None:
        """A builtin around something that is tested means the real one; called with plain values, it may be what is tested."""
        function = node.func
        if isinstance(function, ast.Name) and function.id in self._shadowed and any(map(_contains_tested_value, node.args)):
            real = ast.Attribute(ast.Attribute(self._constant(function), "real", ast.Load()), function.id, ast.Load())
            node.func = _copy_location(real, function)  # type: ignore[assignment]

    def _bound(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> ast.stmt:
        named = ast.copy_location(ast.Name(node.name, ast.Load()), node)
        text = ast.copy_location(ast.Constant(node.name), node)
        return ast.copy_location(ast.Expr(self._call("bound", [text, named], node)), node)

    def _call(self, name: str, args: list[ast.expr], near: ast.AST) -> ast.Call:
        method = ast.Attribute(self._constant(near), name, ast.Load())
        return ast.copy_location(ast.Call(ast.copy_location(method, near), args, []), near)

    def _constant(self, near: ast.AST) -> ast.expr:
        return ast.copy_location(ast.Constant(self._marker), near)


def _stable_definitions(tree: ast.Module) -> set[str]:
    """Names that the outermost code gives to definitions, above all else that it does with them, and binds in no other way."""
    defined = {one.name for one in tree.body if isinstance(one, _DEFINITIONS)}
    others = [one for one in tree.body if not isinstance(one, _DEFINITIONS)]
    rebound = set()
    for node in (node for one in others for node in ast.walk(one)):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            rebound.add(node.id)
        elif isinstance(node, ast.alias):
            rebound.add(node.asname or node.name)
    return defined - rebound


def _copy_location(node: ast.AST, near: ast.AST) -> ast.AST:
    for one in ast.walk(node):
        ast.copy_location(one, near)
    return node


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


def _contains_tested_value(node: ast.expr) -> bool:
    """Whether it compares, or calls what is no builtin."""
    return any(
        isinstance(one, ast.Compare)
        or (isinstance(one, ast.Call) and not (isinstance(one.func, ast.Name) and one.func.id in _BUILTINS))
        for one in ast.walk(node)
    )


def _root_name(node: Any) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_pure_helper(node: ast.AST) -> bool:
    loops = False
    for one in ast.walk(node):
        if isinstance(one, (ast.Assert, ast.Raise)) or (isinstance(one, ast.Attribute) and one.attr.startswith("assert")):
            return False
        loops = loops or isinstance(one, _LOOPS)
    return loops
