package util_test

import (
	"testing"

	"given/util"
)

func TestChannel(t *testing.T) {
	numbers := make(chan int, 1)
	if util.Last([]chan int{numbers}) != numbers {
		t.Fatal("another channel")
	}
}
