package view_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A script that others wrote runs with the rights of the page. It is the one that was published, to
// the byte, and whoever replaces it records the hash of the new one.
func TestVendoredScriptsHaveTheirRecordedHash(t *testing.T) {
	recorded, err := os.ReadFile("page/vendor/README.md")
	require.NoError(t, err)
	scripts, err := filepath.Glob("page/vendor/*.js")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, script := range scripts {
		data, err := os.ReadFile(script)
		require.NoError(t, err)
		line := fmt.Sprintf("    %x  %s\n", sha256.Sum256(data), filepath.Base(script))
		assert.Contains(t, string(recorded), line, "%s is not the file whose hash page/vendor/README.md has", script)
	}
}
