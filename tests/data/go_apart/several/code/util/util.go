package util

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
