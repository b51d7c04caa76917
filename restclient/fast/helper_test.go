package fast

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// wire opens a response of kube-apiserver v1.36.3, byte for byte.
func wire(t testing.TB, name string) io.Reader {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "testdata", name))
	require.NoError(t, err)
	t.Cleanup(func() { file.Close() })
	return file
}
