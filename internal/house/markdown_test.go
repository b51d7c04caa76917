package house_test

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// markdown is a document without its code: a link inside code is not a link, and a command
// outside code is not meant to be typed.
type markdown struct {
	prose   string
	blocks  []string // lines of fenced blocks
	spans   []string // `code` inside of a line
	levels  []int    // of the headings
	anchors []string // the fragments that a code host gives the headings
}

var (
	codeSpan     = regexp.MustCompile("`([^`]+)`")
	markdownLink = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	// hostLink matches a link with a scheme.
	hostLink = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
	// headingForm matches a heading: its marks, and its title.
	headingForm = regexp.MustCompile(`^(#+) +(.*)`)
	// notInAnchors are the characters of a heading that its fragment does not have.
	notInAnchors = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

func parseMarkdown(text string) markdown {
	var m markdown
	fenced := false
	var prose []string
	for _, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			fenced = !fenced
			continue
		case fenced:
			m.blocks = append(m.blocks, line)
			continue
		}
		prose = append(prose, codeSpan.ReplaceAllStringFunc(line, func(span string) string {
			m.spans = append(m.spans, strings.Trim(span, "`"))
			return "code"
		}))
		if heading := headingForm.FindStringSubmatch(line); heading != nil {
			m.levels = append(m.levels, len(heading[1]))
			anchor := notInAnchors.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading[2])), "")
			m.anchors = append(m.anchors, strings.ReplaceAll(anchor, " ", "-"))
		}
	}
	m.prose = strings.Join(prose, "\n")
	return m
}

// checkLinks fails for each broken relative link of a document.
func checkLinks(t *testing.T, from string) {
	for _, link := range markdownLink.FindAllStringSubmatch(parseMarkdown(readDocument(t, from)).prose, -1) {
		if hostLink.MatchString(link[1]) {
			continue
		}
		target, fragment, _ := strings.Cut(link[1], "#")
		file := path.Join(path.Dir(from), cmp.Or(target, path.Base(from)))
		if strings.HasPrefix(target, "/") || strings.HasPrefix(file, "../") {
			t.Errorf("%s: %s leads out of the repository", from, link[1])
			continue
		}
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Errorf("%s: there is no %s", from, link[1])
			continue
		}
		if fragment != "" {
			headings := parseMarkdown(readDocument(t, file)).anchors
			assert.Contains(t, headings, fragment, "%s: a heading of %s", from, file)
		}
	}
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
		outside := []string{".git", "bin", "build", "node_modules", "workshop/work"}
		if entry.IsDir() && slices.Contains(outside, filepath.ToSlash(relative)) {
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
		checkLinks(t, name)
	}
}

// codeReference matches a reference to code: `queue/queue.go: Queue.Get`, and
// [queue/queue.go](../../queue/queue.go): `Queue.Get`, with or without the second backquotes. Of
// the name of a subtest it takes the test.
var codeReference = regexp.MustCompile("[`[]([a-z]+/[a-zA-Z0-9_./-]*\\.go)(?:\\]\\([^)]+\\))?(?:: " +
	"|：)`?([A-Za-z0-9_.]+)(?:/[^`]+)?(?:`| \\|)")

// referencesOf returns the references to code of a document: the file, and the name that it
// declares.
func referencesOf(text string) (found []tourStep) {
	for _, reference := range codeReference.FindAllStringSubmatch(text, -1) {
		found = append(found, tourStep{reference[1], reference[2]})
	}
	return found
}

// Each reference to code leads to a declaration.
func TestReferencesToCodeResolve(t *testing.T) {
	found := 0
	for _, name := range documents(t) {
		for _, reference := range referencesOf(readDocument(t, name)) {
			found++
			assert.NoError(t, declares(reference.file, reference.name), name)
		}
	}
	assert.Greater(t, found, 200, "the references were found")
}

var (
	makeTarget = regexp.MustCompile(`(?m)^([a-z0-9][a-z0-9_-]*):`)
	makeWord   = regexp.MustCompile(`^(?:[A-Z_]+=\S*\s+)*make\s+([^#]*)`)
)

// checkMake fails for each target of a make command that no Makefile has. It skips variables and
// follows -C.
func checkMake(t *testing.T, arguments []string) {
	dir := "."
	for i, argument := range arguments {
		switch {
		case i > 0 && arguments[i-1] == "-C":
			dir = argument
		case strings.HasPrefix(argument, "-") || strings.Contains(argument, "="):
		default:
			isTarget := func(found []string) bool { return found[1] == argument }
			targets := makeTarget.FindAllStringSubmatch(readDocument(t, path.Join(dir, "Makefile")), -1)
			found := slices.ContainsFunc(targets, isTarget)
			assert.True(t, found, "make %v: the Makefile in %s has no such target", arguments, dir)
		}
	}
}

// missing reports whether a code span looks like a path of this repository and does not exist. It
// looks like one if it begins with a top-level directory; build output need not exist.
func missing(span string) bool {
	name := strings.TrimSuffix(strings.TrimPrefix(span, "./"), "/")
	top, _, deeper := strings.Cut(name, "/")
	if !deeper || top == "bin" || top == "build" || strings.ContainsAny(name, " *…") {
		return false
	}
	if info, err := os.Stat(filepath.Join(root, top)); err != nil || !info.IsDir() {
		return false
	}
	_, err := os.Stat(filepath.Join(root, name))
	return err != nil
}

// The commands in the README work, in both languages, and the paths that it names exist.
func TestReadmeKeepsItsWord(t *testing.T) {
	readme := readDocument(t, "README.md")
	for _, name := range []string{"README.md", "README" + inChinese} {
		document := parseMarkdown(readDocument(t, name))
		for _, command := range slices.Concat(document.blocks, document.spans) {
			if call := makeWord.FindStringSubmatch(strings.TrimSpace(command)); call != nil {
				checkMake(t, strings.Fields(call[1]))
			}
		}
		for _, span := range document.spans {
			assert.False(t, missing(span), "%s: there is no %s", name, span)
		}
	}
	// The check found the commands it should examine.
	for _, command := range []string{"make demo", "make try", "make test", "make build"} {
		assert.Contains(t, readme, command)
	}
}

// quoteForm matches what names a Go file, a link or its path alone, and a Go code block.
var quoteForm = regexp.MustCompile("(?ms)\\]\\(\\.\\./\\.\\./([^)]+\\.go)\\)|^`([^`]+\\.go)`:$|```go\n(.*?)```")

// Each Go code block on these pages occurs in the file that was named last.
// upstream/apiserver/served compares the output of the commands of the first hour, which fits into
// an hour.
func TestPagesQuoteTheCode(t *testing.T) {
	for page, blocks := range map[string]int{
		"docs/learn/first-hour.md": 7, "docs/measure/bench.md": 1, "docs/learn/write-your-own-controller.md": 10,
	} {
		text := readDocument(t, page)
		assert.LessOrEqual(t, strings.Count(text, "\n"), 300, page)
		file, quoted := "", 0
		for _, found := range quoteForm.FindAllStringSubmatch(text, -1) {
			if named := found[1] + found[2]; named != "" {
				file = named
				continue
			}
			quoted++
			assert.Contains(t, readDocument(t, file), found[3], file)
		}
		assert.Equal(t, blocks, quoted, page)
	}
}

// inChinese is the ending of a page in Chinese; the same page in English ends in .md.
const inChinese = ".zh-CN.md"

// entrances are pages whose Chinese form has a text of its own, because it leads to Chinese pages.
var entrances = []string{"README.md", "workshop/README.md"}

// Every Chinese page has the headings and the code blocks of its English page, and each leads to
// the other.
func TestBothLanguagesAgree(t *testing.T) {
	pages := 0
	for _, name := range documents(t) {
		english, ok := strings.CutSuffix(name, inChinese)
		if !ok {
			continue
		}
		pages++
		english += ".md"
		en, zh := readDocument(t, english), readDocument(t, name)
		if !slices.Contains(entrances, english) {
			assert.Equal(t, parseMarkdown(en).levels, parseMarkdown(zh).levels, "the headings of %s", name)
			assert.Equal(t, parseMarkdown(en).blocks, parseMarkdown(zh).blocks, "the code blocks of %s", name)
			assert.Equal(t, referencesOf(en), referencesOf(zh), "the references to code of %s", name)
		}
		assert.True(t, strings.Contains(en, "]("+filepath.Base(name)+")"), "%s has to lead to the Chinese page",
			english)
		assert.True(t, strings.Contains(zh, "]("+filepath.Base(english)+")"),
			"%s has to lead to the English page", name)
	}
	assert.GreaterOrEqual(t, pages, 12, "the pages were found")
}
