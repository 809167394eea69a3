"""Calls put to JavaScript, TypeScript and Go in the sandbox: each is answered for itself, as in Python."""

import asyncio
import shutil

import pytest
from sandbox_runs import boxed

from moot.core.types import Answer, Code, Language, Probing, SourceFile
from moot.edge.sandbox.go.toolchain import find_go
from moot.edge.sandbox.node.strip_types import TypesNotStripped, strip_types

NODE = pytest.mark.skipif(not shutil.which("node"), reason="not run: no Node.js")
GO = pytest.mark.skipif(find_go() is None, reason="not run: no Go toolchain")
PATHS: dict[Language, str] = {"javascript": "solution.js", "typescript": "solution.ts", "go": "solution.go"}


def probe(language: Language, text: str, *calls: str, seconds: float = 5.0) -> Probing:
    code = Code(files=(SourceFile(path=PATHS[language], language=language, text=text),))
    return asyncio.run(boxed().probe(code, calls, seconds))


def value(text: str) -> Answer:
    return Answer(kind="value", text=text)


SCRIPT = """
let count = 0;
function next() { count += 1; return count; }
const later = async (n) => ({ n, gone: undefined, set: new Set([2, 1]), map: new Map([['b', 1 / 3], ['a', [-0]]]) });
function refuse(x) { throw new RangeError(`no ${x}`); }
const hang = () => { while (true); };
function quit() { process.exit(0); }
function* two() { yield 1; yield 'b'; }
class Point { constructor(x) { this.x = x; } }
const point = (x) => new Point(x);
"""


@NODE
def test_javascript_answers_each_call_in_a_thread_of_its_own() -> None:
    calls = (
        "next()",
        "next()",
        "later(2)",
        "refuse(1)",
        "hang()",
        "quit()",
        "two()",
        "point(1)",
        "missing()",
        "next()",
    )
    answers = probe("javascript", SCRIPT, *calls, seconds=1.0).answers
    assert answers[0] == answers[1] == answers[9] == value("1"), "nothing is left behind"
    text = '{"gone": undefined, "map": new Map([["a", [0]], ["b", 0.333333333333]]), "n": 2, "set": new Set([1, 2])}'
    assert answers[2] == value(text), "a promise is awaited, and everything has one order"
    assert answers[3] == Answer(kind="error", text="RangeError", detail="no 1")
    assert answers[4].kind == "timeout" and answers[5].kind == "none"
    assert answers[6:8] == (value('<generator [1, "b"]>'), value('<Point {"x": 1}>'))
    assert (answers[8].kind, answers[8].text) == ("error", "ReferenceError")


@NODE
def test_a_thread_does_not_reserve_what_the_newest_node_would() -> None:
    """512 MiB of code beside those of the main thread: the process ended before the first answer."""
    assert probe("javascript", "", "require('node:worker_threads').resourceLimits.codeRangeSizeMb").answers == (
        value("64"),
    )


@NODE
@pytest.mark.parametrize("end", ["", "module.exports = { f };\n", "export default f;\nexport { f };\n"])
def test_a_function_is_reached_however_it_is_exported(end: str) -> None:
    assert probe("javascript", f"const f = (x) => x + 1;\n{end}", "f(1)").answers == (value("2"),)


@NODE
def test_code_that_cannot_be_loaded_says_why() -> None:
    assert probe("javascript", "function f( {", "f(1)").problem.startswith("SyntaxError: ")
    assert probe("javascript", "throw new Error('at once');", "f(1)").problem == "Error: at once"
    assert "line 1 has an enum" in probe("typescript", "enum A { X }", "f(1)").problem


TYPED = """import type { Q } from './q';
export interface Shape { side: number }
type Both<T> = T | undefined;
declare const outer: number;
abstract class Base<T> { abstract area(): T; }
export class Square extends Base<number> implements Shape {
  private readonly kept: Map<string, number[]> = new Map();
  declare note: string;
  side!: number;
  constructor(side: number, public_?: string) { super(); this.side = side; }
  override area(this: Square): number { return (this.side as unknown as number) ** 2; }
  get size(): Both<number> { return this.kept.size; }
}
export function pick(n: number): number;
export function pick(n: string): string;
export function pick<T extends string | number>(n: T, ...rest: T[]): T { return n satisfies T; }
export const area = (side: number): number => new Square(side)!.area();
let later!: string;
"""


@NODE
def test_typescript_runs_without_its_types() -> None:
    assert probe("typescript", TYPED, "area(3)", 'pick("a")').answers == (value("9"), value('"a"'))
    stripped = strip_types(TYPED)
    assert len(stripped) == len(TYPED) and stripped.count("\n") == TYPED.count("\n"), "all else stays in its place"
    assert "interface" not in stripped and "private" not in stripped


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("namespace A { export const x = 1 }", "a namespace"),
        ("class A { constructor(private x: number) {} }", "a field in the parameters"),
        ("@f class A {}", "a decorator"),
        ("function f(: {", "does not parse"),
    ],
)
def test_what_is_more_than_a_type_is_refused(text: str, why: str) -> None:
    with pytest.raises(TypesNotStripped, match=why):
        strip_types(text)


GOLANG = """package main

import "errors"

type Point struct{ X, Y int }

var count int

func Next() int { count++; return count }
func sort(numbers []int) int { return len(numbers) }
func min(a, b int) int { if a < b { return a }; return b }
func First(numbers []int) int { return numbers[0] }
func Divide(a, b float64) (float64, error) {
	if b == 0 { return 0, errors.New("no") }
	return a / b, nil
}
func Count(words []string) map[string]int {
	found := map[string]int{}
	for _, word := range words { found[word]++ }
	return found
}
func Move(p Point, by map[string]int) *Point { return &Point{p.X + by["x"], p.Y} }
func Hang() { for {} }
func Deep(n int) int { return Deep(n+1) + 1 }
func Even(numbers ...int) []int {
	var out []int
	for _, n := range numbers { if n%2 == 0 { out = append(out, n) } }
	return out
}
func Small(n uint8) uint8 { return n }
"""


@GO
def test_go_answers_each_call_in_a_process_of_its_own() -> None:
    wanted = {
        "Next()": value("1"), "First([]int{3})": value("3"), "Divide(1, 3)": value("(0.333333333333, nil)"),
        "Divide(1, 0)": value("(0, error)"), 'Count([]string{"b", "a", "b"})': value('map[string]int{"a": 1, "b": 2}'),
        'Move(Point{X: 1, Y: 2}, map[string]int{"x": 3})': value("&Point{X: 4, Y: 2}"), "Even(1, 3)": value("[]int{}"),
        "Even(1, 2)": value("[]int{2}"), "sort([]int{1})": value("1"), "min(2, 1)": value("1"),
    }  # fmt: skip
    calls = (*wanted, "Next()", "First(nil)", "Hang()", "Deep(1)", "Missing()", 'First("a")', "Small(256)", "First()")
    answers = dict(zip(calls, probe("go", GOLANG, *calls, seconds=2.0).answers, strict=True))
    assert {call: answers[call] for call in wanted} == wanted, "nothing is left behind"
    kinds = {call: (answers[call].kind, answers[call].text) for call in calls if call not in wanted}
    assert kinds == {
        "First(nil)": ("error", "panic"), "Hang()": ("timeout", ""), "Deep(1)": ("none", ""),
        "Missing()": ("error", "undefined"), 'First("a")': ("error", "compile error"),
        "Small(256)": ("error", "compile error"), "First()": ("error", "compile error"),
    }  # fmt: skip


@GO
def test_go_that_cannot_be_called_says_why() -> None:
    assert "too many return values" in probe("go", "package x\n\nfunc F() { return 1 }\n", "F()").problem
    assert probe("go", "func F() int { return 1 }\n", "F()").problem == "the code has no package clause"
    generic = probe("go", "package x\n\nfunc F[T any](x T) T { return x }\n", "F(1)")
    assert generic.problem == "F has type parameters, so that calls cannot be put to it"
    assert probe("go", GOLANG, "First(make([]int, 1))").problem == "not a call with literals: 'First(make([]int, 1))'"


@NODE
def test_code_in_two_languages_is_refused() -> None:
    files = SourceFile(path="a.js", language="javascript", text=""), SourceFile(path="a.py", language="python", text="")
    put = asyncio.run(boxed().probe(Code(files=files), ["f(1)"]))
    assert put.problem == "calls can be put to code in one language, not to javascript"
