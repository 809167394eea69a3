"""Ordinary Go code, and ordinary tests of it, one of each kind."""

CODE = {
    "shop/shop.go": """package shop

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"sort"
	"strings"
	"sync"
	"time"
)

const Limit = 10

type Level int

const (
	Low Level = iota
	High
)

func (l Level) String() string { return [...]string{"low", "high"}[l] }

var ErrEmpty = errors.New("empty")
var ErrTooMany = fmt.Errorf("more than %d", Limit)
var Prices = map[string]int{"tea": 3}
var now = time.Now
var hits int

func Double(n int) int { return 2 * n }
func Divide(a, b int) int { return a / b }
func Div(a, b float64) float64 { return a / b }
func Root(x float64) float64 { return math.Sqrt(x) }
func Negative() float64 { return math.Copysign(0, -1) }
func Words(s string) []string { return strings.Fields(s) }
func Nothing() []string { return nil }
func Empty() []string { return []string{} }
func Count(words ...string) map[string]int {
	found := map[string]int{}
	for _, word := range words {
		found[word]++
	}
	return found
}
func Sort(all []int) { sort.Ints(all) }
func Grow(m map[string][]int, key string, n int) { m[key] = append(m[key], n) }
func Half(n int) (int, error) {
	if n%2 != 0 {
		return 0, fmt.Errorf("half of %d: %w", n, ErrOdd{n})
	}
	return n / 2, nil
}

type ErrOdd struct{ N int }

func (e ErrOdd) Error() string { return fmt.Sprintf("%d is odd", e.N) }

type NotFound struct{ Name string }

func (e *NotFound) Error() string { return e.Name + " was not found" }

func Find(name string) (int, error) {
	if name == "" {
		return 0, ErrEmpty
	}
	price, ok := Prices[name]
	if !ok {
		return 0, &NotFound{name}
	}
	return price, nil
}

type Point struct{ X, Y int }

func (p Point) Add(q Point) Point { return Point{p.X + q.X, p.Y + q.Y} }
func (p *Point) Move(dx int) { p.X += dx }

type Node struct {
	Value       int
	Left, Right *Node
}

func (n *Node) Insert(value int) *Node {
	if n == nil {
		return &Node{Value: value}
	}
	if value < n.Value {
		n.Left = n.Left.Insert(value)
	} else {
		n.Right = n.Right.Insert(value)
	}
	return n
}

type Cart struct {
	mu    sync.Mutex
	items []string
	done  chan bool
}

func NewCart() *Cart { return &Cart{done: make(chan bool, 1)} }
func (c *Cart) Add(item string) *Cart {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items = append(c.items, item)
	return c
}
func (c *Cart) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.items)
}

type Big struct {
	Cart
	name string
}

func NewBig(name string) *Big { return &Big{name: name} }
func (b *Big) Name() string   { return b.name }

type Shape interface{ Area() float64 }
type Square struct{ Side float64 }
type Circle struct{ Radius float64 }

func (s Square) Area() float64  { return s.Side * s.Side }
func (c *Circle) Area() float64 { return math.Pi * c.Radius * c.Radius }
func Total(shapes ...Shape) (sum float64) {
	for _, each := range shapes {
		sum += each.Area()
	}
	return sum
}
func Make(kind string) Shape {
	if kind == "square" {
		return Square{2}
	}
	return &Circle{1}
}

type Stack[T any] struct{ items []T }

func (s *Stack[T]) Push(item T) { s.items = append(s.items, item) }
func (s *Stack[T]) Pop() (T, bool) {
	var none T
	if len(s.items) == 0 {
		return none, false
	}
	last := s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return last, true
}

func Map[T, U any](all []T, do func(T) U) []U {
	var out []U
	for _, each := range all {
		out = append(out, do(each))
	}
	return out
}
func Max[T int | float64](a, b T) T {
	if a > b {
		return a
	}
	return b
}
func Counter() func() int {
	n := 0
	return func() int { n++; return n }
}
func Each(all []int, visit func(int) error) error {
	for _, each := range all {
		if err := visit(each); err != nil {
			return err
		}
	}
	return nil
}
func Factorial(n int64) *big.Int { return new(big.Int).MulRange(1, n) }
func Tomorrow(t time.Time) time.Time { return t.AddDate(0, 0, 1) }
func Stamp() time.Time { return now() }
func Hit() int { hits++; return hits }
func Anything(kind string) any {
	switch kind {
	case "number":
		return 7
	case "point":
		return Point{1, 2}
	case "list":
		return []any{1, "a", nil, map[string]any{"k": 2.5}}
	}
	return nil
}
func Reverse(b []byte) []byte {
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return b
}
func Say(name string) { fmt.Println("hello", name) }
func unexported(r rune) rune { return r + 1 }
func Feed(numbers chan<- int) { numbers <- 1; close(numbers) }
func Matrix(n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
		rows[i][i] = 1
	}
	return rows
}
func Greet(who interface{ Name() string }) string { return "hi " + who.Name() }
func Key(p Point) map[Point]struct{} { return map[Point]struct{}{p: {}} }
func Pair() (a, b complex128, ok bool) { return 1i, 2, true }
func Read(r interface{ Read([]byte) (int, error) }) int {
	n, _ := r.Read(make([]byte, 3))
	return n
}
"""
}

TESTS = {
    "shop/shop_test.go": """package shop

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

func check(t *testing.T, ok bool, words ...any) {
	t.Helper()
	if !ok {
		t.Error(words...)
	}
}

func TestPlain(t *testing.T)    { check(t, Double(2) == 4 && Double(-3) == -6) }
func TestTable(t *testing.T) {
	for _, each := range []struct{ name string; in, want int }{{"one", 1, 2}, {"zero", 0, 0}} {
		t.Run(each.name, func(t *testing.T) {
			if got := Double(each.in); got != each.want {
				t.Fatalf("got %d, want %d", got, each.want)
			}
		})
	}
}
func TestParallel(t *testing.T) {
	for i := 0; i < 4; i++ {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			check(t, Double(i) == 2*i)
		})
	}
}
func TestFloats(t *testing.T) {
	check(t, math.IsInf(Div(1, 0), 1) && math.IsNaN(Root(-1)), "inf, nan")
	check(t, math.Signbit(Negative()) && Negative() == 0, "minus zero")
}
func TestNilAndEmpty(t *testing.T) {
	check(t, Nothing() == nil && Empty() != nil && len(Empty()) == 0)
	check(t, reflect.DeepEqual(Words(" a  b "), []string{"a", "b"}))
}
func TestMaps(t *testing.T) { check(t, reflect.DeepEqual(Count("a", "b", "a"), map[string]int{"a": 2, "b": 1})) }
func TestInPlace(t *testing.T) {
	all := []int{3, 1, 2}
	part := all[:2]
	Sort(all)
	check(t, reflect.DeepEqual(all, []int{1, 2, 3}) && part[0] == 1, all, part)
	m := map[string][]int{}
	Grow(m, "a", 1)
	Grow(m, "a", 2)
	check(t, reflect.DeepEqual(m, map[string][]int{"a": {1, 2}}), m)
}
func TestAlias(t *testing.T) {
	b := []byte("abc")
	r := Reverse(b)
	r[0] = 'x'
	check(t, string(b) == "xba", string(b))
}
func TestErrors(t *testing.T) {
	_, err := Find("")
	check(t, err == ErrEmpty && errors.Is(err, ErrEmpty) && !errors.Is(err, ErrTooMany), err)
	_, err = Find("gold")
	var missing *NotFound
	check(t, errors.As(err, &missing) && missing.Name == "gold" && err.Error() == "gold was not found", err)
	_, err = Half(3)
	var odd ErrOdd
	check(t, errors.As(err, &odd) && odd.N == 3 && err.Error() == "half of 3: 3 is odd", err)
	n, err := Half(4)
	check(t, n == 2 && err == nil)
	check(t, ErrTooMany.Error() == "more than 10")
}
func TestPanic(t *testing.T) {
	defer func() {
		r := recover()
		err, isError := r.(error)
		check(t, isError && strings.Contains(err.Error(), "divide by zero"), r)
	}()
	Divide(1, 0)
}
func TestStructs(t *testing.T) {
	p := Point{1, 2}
	check(t, p.Add(Point{3, 4}) == Point{4, 6})
	p.Move(5)
	check(t, p.X == 6 && fmt.Sprint(p) == "{6 2}", p)
}
func TestTree(t *testing.T) {
	var root *Node
	for _, each := range []int{5, 3, 8} {
		root = root.Insert(each)
	}
	want := &Node{5, &Node{Value: 3}, &Node{Value: 8}}
	check(t, reflect.DeepEqual(root, want), root)
}
func TestObject(t *testing.T) {
	c := NewCart()
	check(t, c.Add("tea").Add("milk") == c && c.Len() == 2, c.Len())
	var zero Cart
	zero.Add("x")
	check(t, zero.Len() == 1)
}
func TestGoroutines(t *testing.T) {
	c := NewCart()
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func() { defer group.Done(); c.Add("x") }()
	}
	group.Wait()
	check(t, c.Len() == 8, c.Len())
}
func TestEmbedded(t *testing.T) {
	b := NewBig("b")
	b.Add("x")
	check(t, b.Len() == 1 && b.Name() == "b")
}
func TestInterfaces(t *testing.T) {
	check(t, Total(Square{2}, Make("square")) == 8)
	check(t, math.Abs(Make("circle").Area()-math.Pi) < 1e-9)
	_, isSquare := Make("square").(Square)
	check(t, isSquare)
}
func TestGenerics(t *testing.T) {
	var s Stack[string]
	s.Push("a")
	s.Push("b")
	last, ok := s.Pop()
	check(t, ok && last == "b" && Max(1.5, 2) == 2 && Max(3, 2) == 3, last)
}
func TestCallback(t *testing.T) {
	check(t, reflect.DeepEqual(Map([]int{1, 2}, func(n int) string { return fmt.Sprint(n * n) }), []string{"1", "4"}))
	sum, stop := 0, errors.New("stop")
	err := Each([]int{1, 2, 3}, func(n int) error {
		sum += n
		if n == 2 {
			return stop
		}
		return nil
	})
	check(t, err == stop && sum == 3, err, sum)
}
func TestClosure(t *testing.T) {
	next := Counter()
	next()
	check(t, next() == 2 && Counter()() == 1)
}
func TestBigNumbers(t *testing.T) { check(t, Factorial(25).String() == "15511210043330985984000000") }
func TestTimes(t *testing.T) {
	zone := time.FixedZone("X", 3600)
	day := time.Date(2024, 2, 28, 12, 0, 0, 5, zone)
	check(t, Tomorrow(day) == time.Date(2024, 2, 29, 12, 0, 0, 5, zone), Tomorrow(day))
	check(t, Tomorrow(time.Time{}) == time.Time{}.AddDate(0, 0, 1))
}
func TestClockReplaced(t *testing.T) {
	old := now
	defer func() { now = old }()
	now = func() time.Time { return time.Unix(7, 0) }
	check(t, Stamp().Unix() == 7, Stamp())
}
func TestState(t *testing.T) {
	first := Hit()
	check(t, Hit() == first+1)
	hits = 40
	check(t, Hit() == 41 && hits == 41, hits)
}
func TestVariables(t *testing.T) {
	check(t, Prices["tea"] == 3 && Limit == 10)
	Prices["gold"] = 100
	price, err := Find("gold")
	delete(Prices, "gold")
	check(t, price == 100 && err == nil)
}
func TestAnything(t *testing.T) {
	check(t, Anything("number") == 7 && Anything("point") == Point{1, 2} && Anything("") == nil)
	check(t, reflect.DeepEqual(Anything("list"), []any{1, "a", nil, map[string]any{"k": 2.5}}))
}
func TestConstants(t *testing.T)  { check(t, High.String() == "high" && fmt.Sprint(Low) == "low" && Low < High) }
func TestUnexported(t *testing.T) { check(t, unexported('a') == 'b') }
func TestMatrix(t *testing.T)     { check(t, reflect.DeepEqual(Matrix(2), [][]float64{{1, 0}, {0, 1}})) }
func TestKeys(t *testing.T) {
	_, ok := Key(Point{1, 2})[Point{1, 2}]
	a, b, fine := Pair()
	check(t, ok && a == 1i && b == 2 && fine)
}
func TestPrinted(t *testing.T) {
	old := os.Stdout
	r, w, _ := os.Pipe()
	os.Stdout = w
	Say("you")
	os.Stdout = old
	w.Close()
	var said bytes.Buffer
	said.ReadFrom(r)
	check(t, said.String() == "hello you\\n", said.String())
}
func TestReader(t *testing.T) {
	r := strings.NewReader("abcdef")
	check(t, Read(r) == 3 && r.Len() == 3, r.Len())
}
func TestHooks(t *testing.T) {
	count := 0
	t.Cleanup(func() { check(t, count == 2) })
	for i := 0; i < 2; i++ {
		func() { defer func() { count++ }(); Double(i) }()
	}
}
func TestChannel(t *testing.T) {
	numbers := make(chan int, 1)
	Feed(numbers)
	check(t, <-numbers == 1)
}

type fake struct{}

func (fake) Name() string { return "fake" }

func TestMock(t *testing.T) { check(t, Greet(fake{}) == "hi fake") }
func TestFiles(t *testing.T) {
	check(t, os.WriteFile(t.TempDir()+"/x", nil, 0o600) == nil && Double(1) == 2)
}
func ExampleDouble() {
	fmt.Println(Double(21))
	// Output: 42
}
func FuzzDouble(f *testing.F) {
	f.Add(3)
	f.Fuzz(func(t *testing.T, n int) { check(t, Double(n) == n+n) })
}
""",
    "shop/outer_test.go": """package shop_test

import (
	"testing"

	"given/shop"
)

func TestFromOutside(t *testing.T) {
	if shop.Double(4) != 8 || (shop.Point{X: 1}).Add(shop.Point{Y: 2}) != (shop.Point{X: 1, Y: 2}) {
		t.Fatal(shop.Double(4))
	}
}
""",
}
TOGETHER = {"TestChannel", "TestMock", "TestFiles"}
"""What needs the process of the code; everything else is judged apart."""

MODULE_CODE = {
    "app/main.go": """package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"given/util"
)

var verbose = flag.Bool("verbose", false, "")

func main() {
	fmt.Println(run(context.Background(), os.Args[1:]))
}

func run(ctx context.Context, words []string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return fmt.Sprint(util.Last(words), *verbose), nil
}
""",
    "util/util.go": """package util

import (
	"embed"
	"os"
	. "time"
)

//go:embed words.txt
var files embed.FS

var sizes = [3]int{1, 2, 3}

const Count = len(sizes)

type Wait Duration

func Longer(d Duration) Wait { return Wait(2 * d) }
func Last[T any](all []T) (last T) {
	if len(all) > 0 {
		last = all[len(all)-1]
	}
	return last
}
func First() string { text, _ := files.ReadFile("words.txt"); return string(text) }
func Open(name string) error { _, err := os.Open(name); return err }

type Bus struct{ heard []func(string) }

func (b *Bus) On(f func(string)) { b.heard = append(b.heard, f) }
func (b *Bus) Emit(word string) {
	for _, each := range b.heard {
		each(word)
	}
}
func (b *Bus) Later(done func()) { go func() { Sleep(Millisecond); done() }() }

type Pair[K comparable, V any] struct {
	Key   K
	Value V
}

func Pairs[K comparable, V any](m map[K]V) (all []Pair[K, V]) {
	for key, value := range m {
		all = append(all, Pair[K, V]{key, value})
	}
	return all
}
""",
    "util/words.txt": "first",
}
MODULE_TESTS = {
    "app/main_test.go": """package main

import (
	"context"
	"testing"

	"given/check"
)

func TestRun(t *testing.T) {
	said, err := run(context.Background(), []string{"a", "b"})
	check.Same(t, said, "bfalse")
	check.Same(t, err == nil, true)
	*verbose = true
	said, _ = run(context.TODO(), nil)
	check.Same(t, said, "true")
}
func TestMain_(t *testing.T) { main() }
func TestGone(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := run(ctx, nil)
	check.Same(t, err == context.Canceled, true)
}
""",
    "check/check.go": """package check

import "testing"

func Same(t *testing.T, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
""",
    "util/util_test.go": """package util_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"given/check"
	"given/util"
)

var set = false

func TestMain(m *testing.M) {
	set = true
	os.Exit(m.Run())
}
func TestSet(t *testing.T) { check.Same(t, set, true); check.Same(t, util.Count, 3) }
func TestUtil(t *testing.T) {
	check.Same(t, util.Longer(time.Second), util.Wait(2*time.Second))
	check.Same(t, util.Last([]util.Wait{1, 2}), util.Wait(2))
	check.Same(t, util.Last[error](nil), nil)
	check.Same(t, util.First(), "first")
	check.Same(t, util.Pairs(map[string][]int{"a": {1}})[0].Value[0], 1)
}
func TestMissing(t *testing.T) {
	err := util.Open("no such file")
	var where *fs.PathError
	check.Same(t, errors.Is(err, os.ErrNotExist), true)
	check.Same(t, errors.As(err, &where) && where.Path == "no such file", true)
}
func TestBus(t *testing.T) {
	heard := ""
	bus := &util.Bus{}
	bus.On(func(word string) { heard += word })
	bus.Emit("a")
	bus.Emit("b")
	check.Same(t, heard, "ab")
}
func TestLater(t *testing.T) {
	done := make(chan bool)
	new(util.Bus).Later(func() { close(done) })
	<-done
}
""",
}
MODULE_TOGETHER = {"TestGone"}
