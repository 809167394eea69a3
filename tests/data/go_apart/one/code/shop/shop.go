package shop

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
