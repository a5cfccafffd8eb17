package main

import (
	"fmt"
	"strings"
	"testing"
)

// A failing test shows what it printed.
func TestPrints(t *testing.T) {
	for i := 0; i < 50000; i++ {
		fmt.Println(strings.Repeat("x", 99))
	}
	t.Fail()
}
