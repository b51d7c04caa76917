package driver

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The driver keeps a lock only during a call for that server.
func TestNoLocksAreLeft(t *testing.T) {
	made, err := NewProcess(t.TempDir(), []string{"sleep", "600"})
	require.NoError(t, err)
	var calls sync.WaitGroup
	for i := range 100 {
		calls.Go(func() { assert.NoError(t, made.DeleteServer(t.Context(), fmt.Sprint("server-", i%10))) })
	}
	calls.Wait()
	assert.Empty(t, made.(*Process).locks)
}
