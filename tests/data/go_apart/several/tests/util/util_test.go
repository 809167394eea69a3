package util_test

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
