package main

import (
	"os"
	"testing"
)

var ready bool

func half(x int) int { return x / 2 }

func TestMain(m *testing.M) {
	ready = true
	code := m.Run()
	os.Exit(code)
}

func TestHalf(t *testing.T) {
	t.Run("four", func(t *testing.T) {
		if !ready || half(4) != 2 {
			t.Fatal("wrong")
		}
	})
}
