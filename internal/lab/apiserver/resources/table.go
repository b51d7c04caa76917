package resources

import (
	"encoding/json"
	"iter"
	"strconv"
	"time"

	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// TableOptions configure a table.
type TableOptions struct {
	// APIVersion is the version of Table; "" means "meta.k8s.io/v1".
	APIVersion string
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

// Table appends the meta.k8s.io Table of the objects to dst.
func Table(dst []byte, d *Definition, objects iter.Seq[*store.Object], options TableOptions) []byte {
	if options.APIVersion == "" {
		options.APIVersion = "meta.k8s.io/v1"
	}
	if options.Now.IsZero() {
		options.Now = time.Now()
	}
	columns := d.Columns
	if columns == nil {
		columns = []Column{nameColumn(), ageColumn()}
	}
	dst = append(dst, `{"kind":"Table","apiVersion":`...)
	dst = strconv.AppendQuote(dst, options.APIVersion)
	dst = append(dst, `,"metadata":`...)
	dst = appendJSON(dst, api.ListMeta{ResourceVersion: options.ResourceVersion, Continue: options.Continue, RemainingItemCount: options.Remaining})
	dst = append(dst, `,"columnDefinitions":`...)
	dst = appendColumns(dst, columns, options.NoHeaders)
	dst = append(dst, `,"rows":[`...)
	first := true
	for object := range objects {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendRow(dst, d, columns, object, &options)
	}
	return append(dst, "]}"...)
}

type columnDefinition struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description"`
	Priority    int32  `json:"priority"`
}

func appendColumns(dst []byte, columns []Column, none bool) []byte {
	if none {
		return append(dst, "null"...)
	}
	definitions := make([]columnDefinition, len(columns))
	for i, c := range columns {
		definitions[i] = columnDefinition{c.Name, c.Type, c.Format, c.Description, c.Priority}
	}
	return appendJSON(dst, definitions)
}

func appendRow(dst []byte, d *Definition, columns []Column, object *store.Object, options *TableOptions) []byte {
	decoded := object.Decode()
	dst = append(dst, `{"cells":[`...)
	for i, column := range columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSON(dst, column.Cell(decoded, options.Now))
	}
	dst = append(dst, `],"object":`...)
	switch options.Include {
	case IncludeNone:
		dst = append(dst, "null"...)
	case IncludeObject:
		dst = appendObject(dst, d, object, decoded)
	default:
		dst = append(dst, `{"kind":"PartialObjectMetadata","apiVersion":`...)
		dst = strconv.AppendQuote(dst, options.APIVersion)
		dst = append(dst, `,"metadata":`...)
		dst = append(dst, object.Metadata()...)
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

func appendObject(dst []byte, d *Definition, object *store.Object, decoded *api.Unstructured) []byte {
	apiVersion := d.Resource().GroupVersion().String()
	if d.FromStorage == nil {
		return object.AppendJSON(dst, apiVersion, d.Kind)
	}
	d.FromStorage(decoded)
	decoded.Object["kind"], decoded.Object["apiVersion"] = d.Kind, apiVersion
	return appendJSON(dst, decoded)
}

// appendJSON appends a value, or null if it cannot be encoded.
func appendJSON(dst []byte, value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, data...)
}
