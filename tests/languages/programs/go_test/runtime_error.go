package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBoom(t *testing.T) {
	assert.Equal(t, 3, 1+1)
}
