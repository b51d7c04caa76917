package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const firstHour = "docs/learn/first-hour.md"

// quoteForm matches a link to a Go file, or a Go code block.
var quoteForm = regexp.MustCompile("(?s)\\]\\(\\.\\./\\.\\./([^)]+\\.go)\\)|```go\n(.*?)```")

// The first hour fits into an hour, and each Go code block on it occurs in the file that was
// linked last. upstream/apiserver/kubectl compares the output of its commands.
func TestTheFirstHourQuotesTheTextbook(t *testing.T) {
	lines, err := countLines(firstHour)
	require.NoError(t, err)
	assert.LessOrEqual(t, lines, 300)

	var file, source string
	var quoted []string
	for _, found := range quoteForm.FindAllStringSubmatch(readDocument(t, firstHour), -1) {
		if found[1] != "" {
			file = found[1]
			text, err := os.ReadFile(filepath.Join(root, file))
			require.NoError(t, err)
			source = string(text)
			continue
		}
		quoted = append(quoted, file)
		assert.Contains(t, source, found[2], file)
	}
	assert.Equal(t, []string{
		"informer/reflector/reflector.go", "deltafifo/fifo.go", "indexer/store.go", "informer/processor.go",
		"queue/queue.go", "nsctl/worker.go", "nsctl/deleter.go",
	}, quoted)
}
