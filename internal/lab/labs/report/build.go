package report

import (
	"os"
	"regexp"
	"strings"
)

// BuildError is a line of the compiler or of go vet.
type BuildError struct {
	Place
	Message string `json:"message"`
	// Source is the line in the file.
	Source string `json:"source,omitempty"`
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
