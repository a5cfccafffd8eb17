package main

import "os"

func main() {
	text, err := os.ReadFile("input.txt")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile("output.txt", text, 0o644); err != nil {
		panic(err)
	}
}
