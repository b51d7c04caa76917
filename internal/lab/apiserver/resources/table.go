package resources

import (
	"encoding/json"
	"errors"
	"iter"
	"regexp"
	"strings"
	"time"

	"github.com/theory/jsonpath"

	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// ConvertedVersion is the version of the kinds that objects can be converted to.
const ConvertedVersion = "meta.k8s.io/v1"

// TableOptions configure a table.
type TableOptions struct {
	// Include is "Metadata" (also ""), "Object" or "None".
	Include string
	// NoHeaders omits the column definitions, as in the later events of a watch.
	NoHeaders bool
	// Now is the time to which ages are relative; zero means the current time.
	Now time.Time
	// ResourceVersion, Continue and Remaining are the metadata of the list.
	ResourceVersion, Continue string
	Remaining                 *int64
}

// The values of TableOptions.Include besides the default.
const (
	IncludeObject = "Object"
	IncludeNone   = "None"
)

type table struct {
	Kind       string             `json:"kind"`
	APIVersion string             `json:"apiVersion"`
	Metadata   api.ListMeta       `json:"metadata"`
	Columns    []columnDefinition `json:"columnDefinitions"`
	Rows       []row              `json:"rows"`
}

type columnDefinition struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description"`
	Priority    int32  `json:"priority"`
}

type row struct {
	Cells  []any           `json:"cells"`
	Object json.RawMessage `json:"object"`
}

// Table appends the meta.k8s.io Table of the objects to dst.
func Table(dst []byte, d *Definition, objects iter.Seq[*store.Object], options TableOptions) []byte {
	if options.Now.IsZero() {
		options.Now = time.Now()
	}
	t := table{Kind: "Table", APIVersion: ConvertedVersion, Rows: []row{}, Metadata: api.ListMeta{
		ResourceVersion: options.ResourceVersion, Continue: options.Continue, RemainingItemCount: options.Remaining,
	}}
	for _, c := range d.Columns {
		if !options.NoHeaders {
			t.Columns = append(t.Columns, columnDefinition{c.Name, c.Type, c.Format, c.Description, c.Priority})
		}
	}
	for object := range objects {
		decoded, r := object.Decode(), row{}
		for _, column := range d.Columns {
			r.Cells = append(r.Cells, column.Cell(decoded, options.Now))
		}
		switch options.Include {
		case IncludeNone:
		case IncludeObject:
			r.Object = d.AppendObject(nil, object, true)
		default:
			r.Object = AppendMetadata(nil, object)
		}
		t.Rows = append(t.Rows, r)
	}
	return appendJSON(dst, t)
}

// AppendMetadata appends the PartialObjectMetadata of an object.
func AppendMetadata(dst []byte, object *store.Object) []byte {
	dst = append(dst, `{"kind":"PartialObjectMetadata","apiVersion":"`+ConvertedVersion+`","metadata":`...)
	dst = append(dst, object.Metadata()...)
	return append(dst, '}')
}

// AppendObject appends an object, with kind and apiVersion if it is named. It copies the stored
// bytes, except for types whose storage version differs.
func (d *Definition) AppendObject(dst []byte, object *store.Object, named bool) []byte {
	if d.FromStorage == nil && !named {
		return append(dst, object.Body()...)
	}
	apiVersion := d.GroupVersion().String()
	if d.FromStorage == nil {
		return object.AppendJSON(dst, apiVersion, d.Kind)
	}
	tree := object.Decode()
	d.FromStorage(tree)
	if named {
		tree.Object["kind"], tree.Object["apiVersion"] = d.Kind, apiVersion
	}
	return appendJSON(dst, tree)
}

// appendJSON appends a value, or null if it cannot be encoded.
func appendJSON(dst []byte, value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, data...)
}

// jsonPath is the path of a column, such as .status.conditions[?(@.type=="Ready")].status.
type jsonPath struct{ path *jsonpath.Path }

// find returns the values at the path. Those of an object are ordered by their names.
func (p jsonPath) find(root any) []any {
	located := p.path.SelectLocated(root)
	located.Sort()
	var found []any
	for value := range located.Nodes() {
		found = append(found, value)
	}
	return found
}

// unquotedField matches a field in the JSONPath of Kubernetes, in which names are not quoted and a
// backslash escapes a character, and a field in brackets, where it does so, too. It also matches
// texts and fractions, so that their dots are none.
var unquotedField = regexp.MustCompile(`\['[^']*'\]|"[^"]*"|'[^']*'|[0-9]+\.[0-9]+|\.((?:\\.|[^.\[\]\\(){}=!<>,"'\s])*)`)

// parseJSONPath parses a path in the syntax of Kubernetes as RFC 9535. An empty name stands for the
// value itself.
func parseJSONPath(text string) (jsonPath, error) {
	if strings.Contains(unquotedField.ReplaceAllString(text, ""), ",") { // whose results could be many
		return jsonPath{}, errors.New("unions are not supported")
	}
	standard := unquotedField.ReplaceAllStringFunc(text, func(match string) string {
		name, isField := strings.CutPrefix(match, ".")
		if strings.HasPrefix(match, "['") {
			name, isField = match[len("['"):len(match)-len("']")], true
		}
		switch {
		case !isField || name == "*":
			return match
		case name == "":
			return ""
		}
		return "[" + encoded(escape.ReplaceAllString(name, "$1")) + "]"
	})
	path, err := jsonpath.Parse("$" + standard)
	return jsonPath{path}, err
}

var escape = regexp.MustCompile(`\\(.)`)
