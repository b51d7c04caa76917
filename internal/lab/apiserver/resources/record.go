package resources

import (
	_ "embed"
	"encoding/json"
	"strings"

	"orrery/restclient/api"
)

//go:embed builtin.jsonl
var recordedResources string

// record is a line of builtin.jsonl: what discovery and tables of a kube-apiserver say of a resource. The file is written
// by upstream/apiserver/schemarecorder.
type record struct {
	Group, Version         string
	Plural, Singular, Kind string
	Namespaced             bool
	Verbs                  []string
	ShortNames, Categories []string
	Subresources           []struct {
		Name, Group, Version, Kind string
		Verbs                      []string
	}
	Columns []struct {
		Name, Type, Format string
		Priority           int32
	}
}

// records returns all resources of a kube-apiserver in the order of its discovery, but for the reviews, which are not
// stored.
func records() []record {
	var all []record
	decoder := json.NewDecoder(strings.NewReader(recordedResources))
	for decoder.More() {
		var r record
		if err := decoder.Decode(&r); err != nil {
			panic("resources: builtin.jsonl: " + err.Error()) // it is part of the program
		}
		if r.Group != "authentication.k8s.io" && r.Group != "authorization.k8s.io" {
			all = append(all, r)
		}
	}
	return all
}

// describe makes a definition say what the record says.
func (r record) describe(d *Definition) {
	d.Group, d.Version, d.Plural, d.Singular, d.Kind = r.Group, r.Version, r.Plural, r.Singular, r.Kind
	d.Namespaced, d.ShortNames, d.Categories = r.Namespaced, r.ShortNames, r.Categories
	if len(r.Verbs) != len(allVerbs) {
		d.Verbs = r.Verbs
	}
	for _, s := range r.Subresources {
		d.parts = append(d.parts, Subresource{
			Name: s.Name, Kind: api.GroupVersionKind{Group: s.Group, Version: s.Version, Kind: s.Kind}, Verbs: s.Verbs,
		})
		switch s.Name {
		case "status":
			d.Status = true
		case "finalize":
			d.Finalize = true
		case "scale":
			d.Scale = true
		}
	}
}

// columns makes the columns of a table from those of the record, with cells.
func (r record) columns(cells map[string]cell) []Column {
	var columns []Column
	for _, c := range r.Columns {
		column := Column{Name: c.Name, Type: c.Type, Format: c.Format, Priority: c.Priority, Cell: cells[c.Name]}
		switch {
		case column.Cell != nil:
			column.Description = c.Name + " of the object."
		case c.Name == "Name":
			column.Description, column.Cell = nameColumn().Description, objectName
		case c.Name == "Age":
			column.Description, column.Cell = ageColumn().Description, age
		case c.Name == "Created At":
			column.Description, column.Cell = createdColumn().Description, created
		default:
			panic("resources: no cell for " + r.Plural + " " + c.Name) // a programming error
		}
		columns = append(columns, column)
	}
	return columns
}
