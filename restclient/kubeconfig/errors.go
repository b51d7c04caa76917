package kubeconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// FileError says that a kubeconfig file cannot be read.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string {
	if isNotExist(e.Err) {
		return fmt.Sprintf("the kubeconfig file %s does not exist: give the path of one that does", e.Path)
	}
	return fmt.Sprintf("the kubeconfig file %s cannot be read (%v): correct that or give another file", e.Path, cause(e.Err))
}

func (e *FileError) Unwrap() error { return e.Err }

// ParseError says where a kubeconfig file is malformed. It quotes nothing of the file.
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

// NoConfigError says that there is no configuration at all.
type NoConfigError struct {
	Searched []string // the files that were looked for
	Variable bool     // the variable KUBECONFIG names them
	Exists   bool     // one of them is there, and empty
}

func (e *NoConfigError) Error() string {
	searched := strings.Join(e.Searched, ", ")
	switch {
	case e.Variable && e.Exists:
		return "the variable KUBECONFIG names no file with a configuration (" + searched + "): correct it, or give a file with --kubeconfig"
	case e.Variable:
		return "the variable KUBECONFIG names no file that exists (" + searched + "): correct it, or give a file with --kubeconfig"
	case searched != "":
		searched = " in " + searched
	}
	return "no configuration was found" + searched + ", and this is not a pod: give a file with --kubeconfig or in the variable KUBECONFIG"
}

// ContextError says that the wanted context does not exist, or that none is wanted.
type ContextError struct {
	Name  string   // empty: no current-context, and none was asked for
	Known []string // names of the contexts there are, sorted
	Files []string
}

func (e *ContextError) Error() string {
	files := strings.Join(e.Files, ", ")
	if files == "" {
		files = "any kubeconfig file"
	}
	advice := "define one there"
	if len(e.Known) > 0 {
		advice = "choose one of " + e.knownNames() + " with --context"
	}
	if e.Name == "" {
		return fmt.Sprintf("no context is selected in %s: %s", files, advice)
	}
	return fmt.Sprintf("the context %q does not exist in %s: %s", e.Name, files, advice)
}

// maxKnown keeps the sentence readable for people with hundreds of clusters.
const maxKnown = 10

func (e *ContextError) knownNames() string {
	names := make([]string, 0, maxKnown+1)
	for name := range slices.Values(e.Known[:min(len(e.Known), maxKnown)]) {
		names = append(names, fmt.Sprintf("%q", name))
	}
	if more := len(e.Known) - maxKnown; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// ReferenceError says that a context names a cluster or user that no file defines.
type ReferenceError struct {
	Context string
	Entry   string // "cluster" or "user"
	Name    string // empty: the context names none
	File    string // that of the context
}

func (e *ReferenceError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("the context %q in %s names no %s: add one", e.Context, e.File, e.Entry)
	}
	return fmt.Sprintf("the context %q in %s names the %s %q, which is not defined: add it or correct the name", e.Context, e.File, e.Entry, e.Name)
}

// EntryError says that a cluster or a user is defined in a way that cannot work.
type EntryError struct {
	Entry   string // "cluster" or "user"
	Name    string
	File    string
	Problem string // a clause that ends in what to do
	Err     error  // may be nil
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("the %s %q in %s %s", e.Entry, e.Name, e.File, e.Problem)
}

func (e *EntryError) Unwrap() error { return e.Err }

// InClusterError says that this is a pod (KUBERNETES_SERVICE_HOST is set), but what the kubelet should have put there is
// missing.
type InClusterError struct {
	Err error
}

func (e *InClusterError) Error() string {
	return fmt.Sprintf("this is a pod without a usable service account (%v): set automountServiceAccountToken, or give a file with --kubeconfig", e.Err)
}

func (e *InClusterError) Unwrap() error { return e.Err }

// cause takes verb and path off an error of package os: the sentence around it names the path already.
func cause(err error) error {
	if pathError, ok := err.(*fs.PathError); ok {
		return pathError.Err
	}
	return err
}

// The errors of package yaml are mere texts. They may quote the file between quotation marks of one kind or another,
// which must not get out, because the file is full of secrets; and the line that they name for a syntax error is often
// that of the block around it.
var (
	quotation   = regexp.MustCompile("[`'\"!&*]")
	position    = regexp.MustCompile(`^yaml: (line \d+: )?`)
	mistypedTag = regexp.MustCompile(`line (\d+): cannot unmarshal (!!\w+)`)
	definedLine = regexp.MustCompile(`line (\d+): mapping key`)
)

func syntaxError(text []byte, err error, path string) error {
	problem := "the YAML is malformed"
	if detail := position.ReplaceAllString(err.Error(), ""); !quotation.MatchString(detail) {
		problem += " (" + detail + ")"
	}
	return &ParseError{Path: path, Line: lineOfSyntaxError(text), Problem: problem + ": correct it there"}
}

// maxPrefixes bounds the work in lineOfSyntaxError.
const maxPrefixes = 1000

// lineOfSyntaxError finds the line that breaks the document: the one behind the longest run of lines from the top that
// is a document by itself. In JSON, where no such run exists, the decoder knows.
func lineOfSyntaxError(text []byte) int {
	var syntax *json.SyntaxError
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) && errors.As(json.Unmarshal(text, new(any)), &syntax) {
		return 1 + bytes.Count(text[:min(syntax.Offset, int64(len(text)))], []byte("\n"))
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines) > maxPrefixes {
		return 0
	}
	end := len(text)
	for n := len(lines); n > 0; n-- {
		end -= len(lines[n-1])
		if yaml.Unmarshal(text[:end], new(yaml.Node)) == nil {
			return n
		}
	}
	return 0
}

// typeError translates an error of decoding the nodes below root into the structs.
func typeError(root *yaml.Node, err error, path string) error {
	var data *dataError
	if errors.As(err, &data) {
		isValue := func(node *yaml.Node) bool { return node.Line == data.line && node.Column == data.column }
		return &ParseError{Path: path, Line: data.line, Problem: fieldOf(root, isValue) + " is not valid base64: paste it again"}
	}
	text := err.Error()
	var types *yaml.TypeError
	if errors.As(err, &types) && len(types.Errors) > 0 {
		text = types.Errors[0]
	}
	if match := mistypedTag.FindStringSubmatch(text); match != nil {
		line, _ := strconv.Atoi(match[1])
		isValue := func(node *yaml.Node) bool { return node.Line == line && node.ShortTag() == match[2] }
		return &ParseError{Path: path, Line: line, Problem: fieldOf(root, isValue) + " has the wrong type of value: correct it there"}
	}
	if match := definedLine.FindStringSubmatch(text); match != nil {
		line, _ := strconv.Atoi(match[1])
		return &ParseError{Path: path, Line: line, Problem: "a field stands there that is set twice: remove one"}
	}
	return &ParseError{Path: path, Problem: "the YAML cannot be understood: write it anew"}
}

// fieldOf names the innermost field with such a value, if there is no doubt which it is.
func fieldOf(root *yaml.Node, isValue func(*yaml.Node) bool) string {
	if names := innermost(root, isValue); len(names) == 1 {
		return names[0]
	}
	return "a field"
}

// innermost returns the fields below node that have such a value and contain no other one that has. Only names of ours
// are told: other keys may be secrets that lost their place.
func innermost(node *yaml.Node, isValue func(*yaml.Node) bool) []string {
	var names []string
	for i, child := range node.Content {
		inner := innermost(child, isValue)
		if len(inner) == 0 && node.Kind == yaml.MappingNode && i%2 == 1 && isValue(child) && knownFields[node.Content[i-1].Value] {
			inner = []string{node.Content[i-1].Value}
		}
		names = append(names, inner...)
	}
	return names
}

var knownFields = func() map[string]bool {
	known := map[string]bool{}
	for name := range strings.FieldsSeq(`apiVersion kind current-context clusters contexts users name cluster context user
		server tls-server-name insecure-skip-tls-verify certificate-authority certificate-authority-data proxy-url
		disable-compression extensions token tokenFile client-certificate client-certificate-data client-key
		client-key-data username password as as-uid as-groups as-user-extra exec auth-provider namespace command args env
		installHint interactiveMode provideClusterInfo value`) {
		known[name] = true
	}
	return known
}()
