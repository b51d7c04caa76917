package house_test

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the tables of docs/learn/mechanisms.md and of its Chinese page, and rooms.txt")

// mechanismSection is a section of docs/learn/mechanisms.yaml.
type mechanismSection struct {
	Title, Chinese string
	Rows           []mechanism
}

// mechanism is one row: the article's names for it, and "file name" of its declaration and of a
// test that shows it.
type mechanism struct{ Name, Chinese, At, Test string }

// reference returns "file name" as a link from docs/learn and the name.
func reference(text, colon string) string {
	file, name, _ := strings.Cut(text, " ")
	return fmt.Sprintf("[%s](../../%s)%s`%s`", file, file, colon, name)
}

// mechanismTables returns the sections as Markdown, in English or in Chinese.
func mechanismTables(sections []mechanismSection, chinese bool) string {
	header, colon := "| mechanism | file | test |", ": "
	if chinese {
		header, colon = "| 机制 | 文件 | 测试 |", "："
	}
	var text strings.Builder
	for _, section := range sections {
		title := section.Title
		if chinese && section.Chinese != "" {
			title = section.Chinese
		}
		fmt.Fprintf(&text, "\n## %s\n\n%s\n| --- | --- | --- |\n", title, header)
		for _, row := range section.Rows {
			name := row.Name
			if chinese && row.Chinese != "" {
				name = row.Chinese
			} else if chinese {
				name = strings.ReplaceAll(name, ", ", "、")
			}
			fmt.Fprintf(&text, "| %s | %s | %s |\n", name, reference(row.At, colon), reference(row.Test, colon))
		}
	}
	return text.String()
}

// docs/learn/mechanisms.md leads a learner from an article to the code and to the test that shows
// it: each file, declaration and test exists, and the tables are those of the data.
func TestMechanisms(t *testing.T) {
	var sections []mechanismSection
	require.NoError(t, yaml.Unmarshal([]byte(readDocument(t, "docs/learn/mechanisms.yaml")), &sections))
	rows := 0
	for _, section := range sections {
		for _, row := range section.Rows {
			rows++
			file, name, _ := strings.Cut(row.At, " ")
			assert.NoError(t, declares(file, name), row.Name)
			file, name, _ = strings.Cut(row.Test, " ")
			assert.NoError(t, shows(file, name), row.Name)
		}
	}
	assert.GreaterOrEqual(t, rows, 100)
	for _, page := range []string{"docs/learn/mechanisms.md", "docs/learn/mechanisms" + inChinese} {
		tables := mechanismTables(sections, strings.HasSuffix(page, inChinese))
		first, _, _ := strings.Cut(strings.TrimSpace(tables), "\n")
		introduction, _, found := strings.Cut(readDocument(t, page), "\n"+first+"\n")
		require.True(t, found, "%s has to have the heading %q", page, first)
		if *update {
			require.NoError(t, os.WriteFile(filepath.Join(root, page), []byte(introduction+tables), 0o600))
		}
		assert.Equal(t, introduction+tables, readDocument(t, page), "%s is not up to date", page)
	}
}

// declares reports whether the file declares the name: a function, type, constant or variable, or
// Type.member for a method, a field or a method of an interface.
func declares(file, name string) error {
	source, err := parseSource(file)
	if err != nil {
		return err
	}
	if !source.declared[name] {
		return fmt.Errorf("%s does not declare %s", file, name)
	}
	return nil
}

// shows reports whether the file has the test. TestX/a/b names a subtest, as for go test -run; its
// parts must occur in the package of the test or in the contract suite that it runs.
func shows(file, name string) error {
	name, parts, _ := strings.Cut(name, "/")
	if !strings.HasSuffix(file, "_test.go") {
		return fmt.Errorf("%s is not a file of tests", file)
	}
	if !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Example") {
		return fmt.Errorf("%s is not the name of a test", name)
	}
	if err := declares(file, name); err != nil || parts == "" {
		return err
	}
	texts, err := textsAround(file)
	if err != nil {
		return err
	}
	for part := range strings.SplitSeq(parts, "/") {
		if !strings.Contains(texts, part) && !strings.Contains(texts, strings.ReplaceAll(part, "_", " ")) {
			return fmt.Errorf("%s: %s has no part %s", file, name, part)
		}
	}
	return nil
}

// suiteForm matches the import of a contract suite.
var suiteForm = regexp.MustCompile(`"orrery/(\S+test)"`)

// textsAround returns the sources of the test's package, of the suites that the test imports, and
// the names of its scenario files: the names of subtests occur there.
func textsAround(file string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return "", err
	}
	directories := []string{path.Dir(file)}
	for _, found := range suiteForm.FindAllStringSubmatch(string(text), -1) {
		directories = append(directories, found[1])
	}
	var texts strings.Builder
	for _, directory := range directories {
		sources, err := filepath.Glob(filepath.Join(root, directory, "*.go"))
		if err != nil {
			return "", err
		}
		for _, source := range sources {
			text, err := os.ReadFile(source)
			if err != nil {
				return "", err
			}
			texts.Write(text)
		}
	}
	scenarios, err := filepath.Glob(filepath.Join(root, path.Dir(file), "testdata", "*"))
	texts.WriteString(strings.Join(scenarios, "\n"))
	return texts.String(), err
}
