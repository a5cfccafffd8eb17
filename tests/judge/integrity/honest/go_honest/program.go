package main

import "os"

var _ = os.Args

func half(x int) int { return x / 2 }

func main() {
	if half(4) != 2 {
		panic("wrong")
	}
}
