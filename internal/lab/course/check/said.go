package check

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Place is a line in a file.
type Place struct {
	File string
	Line int
}

func (p Place) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// saidLimit is the greatest number of lines of a test's message.
const saidLimit = 12

var (
	// headForm is the place before a message: "    base.go:90: text".
	headForm = regexp.MustCompile(`^ {4}\S+\.go:[0-9]+: ?(.*)$`)
	// labelForm is a part of a message of testify.
	labelForm = regexp.MustCompile(`^\s*\t(Error Trace|Error|Test|Messages):\s*(.*)$`)
)

// diffLine is a line of testify's diff that differs. It takes the place of values that are too
// long.
var diffLine = regexp.MustCompile(`^[-+] `)

// empty are reasons of testify that add nothing to the sentence of an assertion.
var empty = []string{"Not equal:", "Should be true", "Should be false"}

// said returns the messages of one test: of testify's reports the reason and the sentence of the
// assertion, which comes first. asserted is the place of the first assertion.
func said(lines []string, paths Paths) (text []string, asserted *Place) {
	var reason, sentence, diff []string
	label := ""
	flush := func() {
		if len(diff) > 0 && slices.ContainsFunc(reason, func(line string) bool { return len(line) > widest }) {
			reason = diff
		}
		if len(sentence) > 0 {
			reason = slices.DeleteFunc(reason, func(line string) bool { return slices.Contains(empty, line) })
		}
		text = append(append(text, sentence...), reason...)
		reason, sentence, diff = nil, nil, nil
	}
	for _, line := range lines {
		if head := headForm.FindStringSubmatch(line); head != nil {
			flush()
			if label = "Error"; head[1] != "" {
				reason = append(reason, head[1])
			}
			continue
		}
		part := line
		if found := labelForm.FindStringSubmatch(line); found != nil {
			label, part = found[1], found[2]
		}
		part = strings.TrimRight(strings.TrimLeft(part, " \t"), " \t")
		switch {
		case part == "":
		case label == "Error Trace" && asserted == nil:
			asserted = placeOf(part, paths)
		case label == "Messages":
			sentence = append(sentence, part)
		case label == "Error" && strings.HasPrefix(part, "Diff:"):
			label = "Diff"
		case label == "Diff" && diffLine.MatchString(part):
			diff = append(diff, part)
		case label == "Error":
			reason = append(reason, part)
		}
	}
	flush()
	for i := range text {
		text[i] = paths.Map(shorten(text[i]))
	}
	if len(text) > saidLimit {
		text = append(text[:saidLimit], "…")
	}
	return text, asserted
}

// widest is the greatest number of characters of a line.
const widest = 160

func shorten(line string) string {
	if runes := []rune(line); len(runes) > widest {
		return string(runes[:widest]) + "…"
	}
	return line
}

var placeForm = regexp.MustCompile(`^(.*\.go):([0-9]+)$`)

// placeOf returns a place in the repository, or nil.
func placeOf(text string, paths Paths) *Place {
	found := placeForm.FindStringSubmatch(strings.TrimSpace(text))
	if found == nil {
		return nil
	}
	name, _ := paths.Name(found[1])
	if name == "" {
		return nil
	}
	return &Place{File: paths.Show(name), Line: number(found[2])}
}

func number(digits string) (n int) {
	fmt.Sscan(digits, &n)
	return n
}

// BuildError is a line of the compiler or of go vet.
type BuildError struct {
	Place
	Message string
	// Source is the line in the file.
	Source string
}

// buildLimit is the greatest number of errors that are shown.
const buildLimit = 10

var (
	errorForm  = regexp.MustCompile(`^(\S+\.go):([0-9]+)(?::[0-9]+)?: (.*)$`)
	moduleForm = regexp.MustCompile(`no required module provides package (\S+?);|package (\S+) is not in std|(?:cannot find|missing go.sum entry for) module providing package (\S+)`)
)

// Compiler returns the errors in the compiler's output, or in go vet's, at most ten, and the import
// for which there is no module, or "". Other lines are part of the message before them.
func Compiler(output string, paths Paths) (errors []BuildError, noModule string) {
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		if found := moduleForm.FindStringSubmatch(line); found != nil && noModule == "" {
			noModule = found[1] + found[2] + found[3]
		}
		found := errorForm.FindStringSubmatch(strings.TrimPrefix(line, "vet: "))
		switch {
		case found != nil && len(errors) < buildLimit:
			errors = append(errors, buildError(found[1], number(found[2]), found[3], paths))
		case found == nil && len(errors) > 0 && strings.HasPrefix(line, "\t"):
			last := &errors[len(errors)-1]
			last.Message += " " + paths.Map(strings.TrimSpace(line))
		case found == nil && len(errors) == 0 && line != "" && !strings.HasPrefix(line, "#"):
			errors = append(errors, BuildError{Message: paths.Map(line)})
		}
	}
	return errors, noModule
}

// buildError returns the error with the learner's path and the source line.
func buildError(printed string, line int, message string, paths Paths) BuildError {
	e := BuildError{Place: Place{printed, line}, Message: paths.Map(message)}
	if name, _ := paths.Name(printed); name != "" {
		e.File = paths.Show(name)
		e.Source = SourceLine(paths.File(name), line)
	}
	return e
}

// SourceLine returns a line of a file without its indentation, or "".
func SourceLine(file string, line int) string {
	text, err := os.ReadFile(file)
	lines := strings.Split(string(text), "\n")
	if err != nil || line < 1 || line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[line-1])
}
