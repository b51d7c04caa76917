package kubeconfig

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzParse feeds the parser with damaged kubeconfigs. It must not panic, must fail with a ParseError alone, must not
// quote the file, and must understand what it has written itself.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/*")
	require.NoError(f, err)
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil {
			for part := range strings.SplitSeq(string(text), "\n----\n") {
				_, part, _ = strings.Cut(part, "\n") // without the command
				f.Add([]byte(part))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		cfg, err := Parse(text, "FILE")
		var parseError *ParseError
		if err != nil {
			require.True(t, errors.As(err, &parseError))
			require.NotContains(t, err.Error(), "s3cret")
			return
		}
		written, err := cfg.Marshal()
		require.NoError(t, err)
		again, err := Parse(written, "FILE")
		require.NoError(t, err)
		writtenAgain, err := again.Marshal()
		require.NoError(t, err)
		require.Equal(t, string(written), string(writtenAgain))
	})
}
