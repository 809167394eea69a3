package main

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
