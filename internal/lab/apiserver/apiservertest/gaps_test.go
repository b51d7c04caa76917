package apiservertest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page's first table lists every gap, and no closed one.
func TestGapsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/operate/apiserver.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## Deliberate gaps\n")
	require.True(t, found, "docs/operate/apiserver.md has no section \"Deliberate gaps\"")
	section, _, _ = strings.Cut(section, "\n##")
	var documented []string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| ---") && !strings.HasPrefix(line, "| conversation |") {
			documented = append(documented, strings.TrimSpace(line))
		}
	}
	var listed []string
	for _, gap := range Gaps() {
		listed = append(listed, fmt.Sprintf("| %s | %s | %s |", gap.Theme, gap.Title, gap.Reason))
	}
	assert.Equal(t, listed, documented)
}
