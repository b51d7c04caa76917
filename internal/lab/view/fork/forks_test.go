package fork_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/view/fork"
	"orrery/internal/observe/view/places"
)

// A page has one fork at a time. A new one ends the one before, unless it is refused.
func TestForksOfAPage(t *testing.T) {
	r := read(t, []byte(header+inputs("create-namespace", "", "create-configmap", "red")))
	forks := fork.NewForks(t.Context(), func() (*fork.Recording, error) { return r, nil }, places.Source{})
	defer forks.Stop()
	serves := func(address string) bool { // its token: the next server may have its port
		answer, err := http.Get(strings.Replace(address, "/?token", "/trace?token", 1))
		return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
	}
	known, err := forks.Inputs()
	require.NoError(t, err)
	assert.Same(t, r, known)
	first, err := forks.Fork(1, 0)
	require.NoError(t, err)
	assert.True(t, serves(first))
	_, err = forks.Fork(3, 0)
	assert.EqualError(t, err, "there is no input 3; the recording has the inputs 1 to 2")
	assert.True(t, serves(first), "the fork goes on")
	second, err := forks.Fork(2, 1)
	require.NoError(t, err)
	assert.False(t, serves(first))
	assert.True(t, serves(second))
	forks.Stop()
	assert.False(t, serves(second))
}
