package main

func main() {
