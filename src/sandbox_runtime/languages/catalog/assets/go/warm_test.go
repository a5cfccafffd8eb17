// Running it once fills the build cache with what `go test` needs beside the packages themselves: its own, and what vet finds.
package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWarm(t *testing.T) {
	var once sync.Once
	once.Do(func() { sort.Strings(os.Args) })
	assert.Equal(t, "2", strconv.Itoa(int(math.Sqrt(4))))
	require.True(t, reflect.DeepEqual(strings.Fields(fmt.Sprint("a b")), []string{"a", "b"}))
	require.Error(t, errors.New(time.Now().String()))
}
