package kubeconfig

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// ParseError reports a malformed kubeconfig file. It quotes nothing of the file.
type ParseError struct {
	Path    string // empty: not read from a file
	Line    int    // 0: not known
	Problem string // a clause
}

func (e *ParseError) Error() string {
	where := "the kubeconfig"
	if e.Path != "" {
		where += " file " + e.Path
	}
	if e.Line > 0 {
		where += fmt.Sprintf(", line %d", e.Line)
	}
	return where + ": " + e.Problem
}

// NoConfigError reports that there is no configuration.
type NoConfigError struct {
	Searched []string // the candidate files, which do not exist or are empty
}

func (e *NoConfigError) Error() string {
	searched := strings.Join(e.Searched, ", ")
	if searched != "" {
		searched = " in " + searched
	}
	return "no configuration was found" + searched +
		", and this is not a pod: give a file with --kubeconfig or in the variable KUBECONFIG"
}

// Error reports a context, cluster or user that cannot work, or a pod without a usable service
// account (KUBERNETES_SERVICE_HOST is set). Its text is a sentence with advice.
type Error struct {
	Text string
	Err  error // may be nil
}

func (e *Error) Error() string { return e.Text }

func (e *Error) Unwrap() error { return e.Err }

// entryError returns the error of a cluster, user or context. file may be empty if one file was
// read; problem is a clause with advice.
func entryError(entry, name, file string, info *Info, problem string, err error) error {
	file = cmp.Or(file, strings.Join(info.Files, ", "))
	return &Error{Text: fmt.Sprintf("the %s %q in %s %s", entry, name, file, problem), Err: err}
}

// contextError returns the error of a context that does not exist, or, without a name, of no
// current-context. known are the names of the defined contexts, sorted.
func contextError(name string, known, files []string) error {
	place := cmp.Or(strings.Join(files, ", "), "any kubeconfig file")
	advice := "define one there"
	if len(known) > 0 {
		advice = `choose one of "` + strings.Join(known, `", "`) + `" with --context`
	}
	problem := "no context is selected in"
	if name != "" {
		problem = fmt.Sprintf("the context %q does not exist in", name)
	}
	return &Error{Text: fmt.Sprintf("%s %s: %s", problem, place, advice)}
}

// podError returns the error of a pod without a usable service account.
func podError(err error) error {
	return &Error{Text: fmt.Sprintf("this is a pod without a usable service account (%v): "+
		"set automountServiceAccountToken, or give a file with --kubeconfig", err), Err: err}
}

// yamlLine matches the line number in errors of package yaml. Those errors may quote the file,
// which is full of secrets, so only the number is used.
var yamlLine = regexp.MustCompile(`^yaml: (?:unmarshal errors:\s+)?line (\d+): `)

// yamlError returns the error of a file that package yaml rejects.
func yamlError(path string, err error, problem string) error {
	parseError := &ParseError{Path: path, Problem: problem}
	if found := yamlLine.FindStringSubmatch(err.Error()); found != nil {
		parseError.Line, _ = strconv.Atoi(found[1])
	}
	return parseError
}
