package main

import "testing"

func TestEndless(t *testing.T) {
	for {
	}
}
