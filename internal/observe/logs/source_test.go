package logs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// moduleRoot is the root of the program's source.
const moduleRoot = "../../.."

// statement is a place where a line is written.
type statement struct{ file, message string }

var (
	logStatement = regexp.MustCompile(`\.\s*(?:Msg|Msgf|MsgFunc)\(`)
	constantText = regexp.MustCompile(`\.\s*Msg\("((?:[^"\\]|\\.|" \+\s*")*)"\)`)
	brokenText   = regexp.MustCompile(`" \+\s*"`) // over two lines
)

// statements returns all log statements below a directory. It reports those whose message is not
// constant: values belong in fields.
func statements(t *testing.T, directory string) (found []statement) {
	t.Helper()
	skipped := []string{"upstream", "testdata", ".git", "bin"}
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && slices.Contains(skipped, entry.Name()) {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		constant := constantText.FindAllStringSubmatch(string(text), -1)
		assert.Len(t, constant, len(logStatement.FindAll(text, -1)), "%s: use Msg with a constant, and fields", path)
		for _, match := range constant {
			found = append(found, statement{file: path, message: brokenText.ReplaceAllString(match[1], "")})
		}
		return err
	})
	require.NoError(t, err)
	return found
}

// Messages are constant, so that they can be searched for and counted, and they follow the house's
// style.
func TestMessagesAreConstant(t *testing.T) {
	all := statements(t, moduleRoot)
	require.Greater(t, len(all), 40, "the search finds them")
	for _, s := range all {
		assert.NotRegexp(t, `^[A-Z][a-z]|[.!]$|%[svdq]|^$`, s.message,
			"%s: begins with a small letter, ends without a full stop, has no place for values", s.file)
	}
}
