package kubeconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

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
