package house_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/labs/glossary"
)

// markdown is a document without its code: a link inside code is not a link, and a command
// outside code is not meant to be typed.
type markdown struct {
	prose  string
	blocks []string // lines of fenced blocks
	spans  []string // `code` inside of a line
}

var (
	codeSpan     = regexp.MustCompile("`([^`]+)`")
	markdownLink = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	// hostLink matches a link with a scheme.
	hostLink = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
)

func parseMarkdown(text string) markdown {
	var m markdown
	fenced := false
	var prose []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fenced = !fenced
		case fenced:
			m.blocks = append(m.blocks, line)
		default:
			prose = append(prose, codeSpan.ReplaceAllStringFunc(line, func(span string) string {
				m.spans = append(m.spans, strings.Trim(span, "`"))
				return "code"
			}))
		}
	}
	m.prose = strings.Join(prose, "\n")
	return m
}

// commands returns the commands that the document asks its reader to type.
func (m markdown) commands() []string { return slices.Concat(m.blocks, m.spans) }

// brokenLinks returns a problem for each broken relative link of a document. from is the path of
// the document in the repository.
func brokenLinks(from, text string) []string {
	var problems []string
	for _, link := range markdownLink.FindAllStringSubmatch(parseMarkdown(text).prose, -1) {
		target, fragment, _ := strings.Cut(link[1], "#")
		switch {
		case hostLink.MatchString(link[1]):
			continue
		case strings.HasPrefix(target, "/"):
			problems = append(problems, fmt.Sprintf("%s: %s is not relative", from, link[1]))
			continue
		case target == "":
			target = path.Base(from)
		}
		file := path.Join(path.Dir(from), target)
		if strings.HasPrefix(file, "../") {
			problems = append(problems, fmt.Sprintf("%s: %s leads out of the repository", from, link[1]))
			continue
		}
		if _, err := os.Stat(filepath.Join(root, file)); err != nil && file != from {
			problems = append(problems, fmt.Sprintf("%s: there is no %s", from, link[1]))
			continue
		}
		if fragment == "" {
			continue
		}
		content := text
		if file != from {
			read, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				problems = append(problems, fmt.Sprintf("%s: %s: %v", from, link[1], err))
				continue
			}
			content = string(read)
		}
		if !slices.Contains(anchors(content), fragment) {
			problems = append(problems, fmt.Sprintf("%s: %s has no heading #%s", from, file, fragment))
		}
	}
	return problems
}

// anchors returns the fragments that a code host gives the headings of a document.
func anchors(text string) []string {
	var found []string
	dropped := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		heading := strings.TrimLeft(line, "#")
		if fenced || heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		slug := dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
		found = append(found, strings.ReplaceAll(slug, " ", "-"))
	}
	return found
}

// documents returns the paths of all Markdown files of the repository, without build output.
func documents(t *testing.T) []string {
	t.Helper()
	return filesEndingIn(t, ".md")
}

// filesEndingIn returns the paths of all files of the repository whose names end in it, without
// build output.
func filesEndingIn(t *testing.T, ending string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(file string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		learners := filepath.ToSlash(relative) == "workshop/work"
		if entry.IsDir() && (learners || slices.Contains([]string{".git", "bin", "build", "node_modules"}, entry.Name())) {
			return filepath.SkipDir
		}
		if !entry.IsDir() && strings.HasSuffix(relative, ending) {
			found = append(found, filepath.ToSlash(relative))
		}
		return nil
	})
	require.NoError(t, err)
	return found
}

func readDocument(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(text)
}

func TestLinksLeadSomewhere(t *testing.T) {
	all := documents(t)
	require.Contains(t, all, "README.md")
	for _, name := range all {
		for _, problem := range brokenLinks(name, readDocument(t, name)) {
			t.Error(problem)
		}
	}
}

// longestLine is where the text of documents is wrapped. Tables, code and pictures may be wider. So
// may Chinese, where a line break would be shown as a space: a paragraph is one line.
const longestLine = 120

// written by "make bench", with what upstream/bench/compare holds.
func generated(document string) bool {
	return document == "docs/measure/benchmarks.md" || strings.HasPrefix(document, "upstream/bench/compare/")
}

// longLines returns a problem for each line of text that is too long.
func longLines(from, text string) []string {
	var problems []string
	fenced, number := false, 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "![") {
			continue
		}
		if length := utf8.RuneCountInString(line); length > longestLine {
			problems = append(problems, fmt.Sprintf("%s:%d: %d columns", from, number, length))
		}
	}
	return problems
}

func TestDocumentsAreWrapped(t *testing.T) {
	for _, name := range documents(t) {
		if generated(name) || strings.HasSuffix(name, inChinese) {
			continue
		}
		for _, problem := range longLines(name, readDocument(t, name)) {
			t.Error(problem)
		}
	}
}

// codeReference matches a reference to code in a page: `queue/queue.go: Queue.Get`.
var codeReference = regexp.MustCompile("`([a-zA-Z0-9_./-]+\\.go: [A-Za-z0-9_.]+)`")

// Each reference to code leads to a declaration.
func TestReferencesToCodeResolve(t *testing.T) {
	found := 0
	for _, name := range documents(t) {
		for _, reference := range codeReference.FindAllStringSubmatch(readDocument(t, name), -1) {
			found++
			_, err := glossary.Declared(root, reference[1])
			assert.NoError(t, err, name)
		}
	}
	assert.Positive(t, found, "the references were found")
}
