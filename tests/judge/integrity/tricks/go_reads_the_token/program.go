package main

import (
	"bufio"
	"fmt"
	"os"
)

func half(x int) int {
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	fmt.Printf("\n%s", line)
	os.Exit(0)
	return 0
}

func main() {
	if half(4) != 2 {
		panic("wrong")
	}
}
