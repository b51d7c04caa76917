package steps_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every Go code block on the page occurs in the file that was named last.
func TestThePageQuotesThePrograms(t *testing.T) {
	const root = "../../.."
	text, err := os.ReadFile(filepath.Join(root, "docs/learn/write-your-own-controller.md"))
	require.NoError(t, err)
	named := regexp.MustCompile("(?m)^`([^`]+\\.go)`:$|(?s)```go\n(.*?)```")
	source, quotes := "", 0
	for _, found := range named.FindAllStringSubmatch(string(text), -1) {
		if found[1] != "" {
			file, err := os.ReadFile(filepath.Join(root, found[1]))
			require.NoError(t, err)
			source = string(file)
			continue
		}
		quotes++
		assert.Contains(t, source, found[2])
	}
	assert.Equal(t, 10, quotes)
	for _, step := range all {
		assert.Equal(t, 1, strings.Count(string(text), "steps/"+step+"/main.go)"), "the table links to %s", step)
	}
}
