package kubeconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzParse feeds the parser with damaged kubeconfigs. It must not panic, must return only a
// ParseError, must not quote the file, and must read its own output.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/scenarios/*")
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
			require.Less(t, len(err.Error()), 600, "it says what is wrong and does not repeat the file")
			require.GreaterOrEqual(t, parseError.Line, 0)
			require.LessOrEqual(t, parseError.Line, bytes.Count(text, []byte("\n"))+bytes.Count(text, []byte("\r"))+2)
			return
		}
		written, err := cfg.Marshal()
		require.NoError(t, err)
		again, err := Parse(written, "FILE")
		require.NoError(t, err)
		writtenAgain, err := again.Marshal()
		require.NoError(t, err)
		require.Equal(t, string(written), string(writtenAgain))

		// White space between the parts of a JSON document means nothing.
		var compact bytes.Buffer
		if json.Compact(&compact, text) == nil {
			same, err := Parse(compact.Bytes(), "FILE")
			require.NoError(t, err)
			fromCompact, err := same.Marshal()
			require.NoError(t, err)
			require.Equal(t, string(written), string(fromCompact))
		}
	})
}
