package house_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

var (
	makeTarget = regexp.MustCompile(`(?m)^([a-z0-9][a-z0-9_-]*):`)
	makeWord   = regexp.MustCompile(`^(?:[A-Z_]+=\S*\s+)*make\s+(.*)`)
)

// brokenCommands returns a problem for each "make target" in a document that no Makefile has, and
// for each path of this repository that it names and that does not exist.
func brokenCommands(text string) []string {
	var problems []string
	document := parseMarkdown(text)
	for _, command := range document.commands() {
		call := makeWord.FindStringSubmatch(strings.TrimSpace(command))
		if call == nil {
			continue
		}
		line, _, _ := strings.Cut(call[1], "#")
		problems = append(problems, checkMake(strings.Fields(line))...)
	}
	for _, span := range document.spans {
		if missing(span) {
			problems = append(problems, fmt.Sprintf("there is no %s", span))
		}
	}
	return problems
}

// checkMake checks the arguments of one make command. It skips variables and follows -C.
func checkMake(arguments []string) []string {
	var problems []string
	dir := "."
	for i := 0; i < len(arguments); i++ {
		switch argument := arguments[i]; {
		case argument == "-C" && i+1 < len(arguments):
			i++
			dir = arguments[i]
		case strings.HasPrefix(argument, "-") || strings.Contains(argument, "="):
		default:
			makefile, err := os.ReadFile(filepath.Join(root, dir, "Makefile"))
			if err != nil {
				return append(problems, fmt.Sprintf("make %s: there is no Makefile in %s", strings.Join(arguments, " "), dir))
			}
			if !hasTarget(string(makefile), argument) {
				problems = append(problems, fmt.Sprintf("make %s: the Makefile in %s has no such target", argument, dir))
			}
		}
	}
	return problems
}

func hasTarget(makefile, target string) bool {
	for _, found := range makeTarget.FindAllStringSubmatch(makefile, -1) {
		if found[1] == target {
			return true
		}
	}
	return false
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

// The commands in the README work, in both languages.
func TestReadmeKeepsItsWord(t *testing.T) {
	readme := readDocument(t, "README.md")
	for _, name := range []string{"README.md", "README" + inChinese} {
		for _, problem := range brokenCommands(readDocument(t, name)) {
			t.Error(name + ": " + problem)
		}
	}
	// The check found the commands it should examine.
	for _, command := range []string{"make demo", "make try", "make test", "make build"} {
		assert.Contains(t, readme, command)
	}
}
