package resources

import (
	"encoding/json"
	"iter"
	"time"

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
