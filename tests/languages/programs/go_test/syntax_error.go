package main

import "testing"

func TestNever(t *testing.T) {
