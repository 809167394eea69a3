package shop

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
	check(t, said.String() == "hello you\n", said.String())
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
