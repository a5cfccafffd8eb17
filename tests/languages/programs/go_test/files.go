package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCopies(t *testing.T) {
	text, err := os.ReadFile("input.txt")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("output.txt", text, 0o644))
}
