package main

import (
	"os"
	"testing"
)

func half(x int) int { return 0 }

func TestMain(m *testing.M) {
	m.Run()
	os.Exit(0)
}

func TestHalf(t *testing.T) {
	if half(4) != 2 {
		t.Fatal("wrong")
	}
}
