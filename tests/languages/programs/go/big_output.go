package main

import (
	"fmt"
	"strings"
)

func main() {
	for i := 0; i < 50000; i++ {
		fmt.Println(strings.Repeat("x", 99))
	}
}
