package main

import (
	"syscall"
	"testing"
)

func init() { syscall.Exit(0) }

func half(x int) int { return 0 }

func TestHalf(t *testing.T) {
	if half(4) != 2 {
		t.Fatal("wrong")
	}
}
