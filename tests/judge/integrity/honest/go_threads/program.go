package main

import (
	"fmt"
	"sync"
)

func half(x int) int { return x / 2 }

func main() {
	defer fmt.Println("done")
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			if half(4) != 2 {
				panic("wrong")
			}
		}()
	}
	all.Wait()
}
