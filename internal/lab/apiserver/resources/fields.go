package resources

import (
	"fmt"
	"slices"

	"orrery/internal/lab/apiserver/selector"
)

// FieldSelector returns the selector in terms of the names that [Definition.Fields], "metadata.name" and
// "metadata.namespace" go by, or an error whose text is kube-apiserver's if the type does not let clients select by one
// of the fields.
func (d *Definition) FieldSelector(s selector.Fields) (selector.Fields, error) {
	return s.Rename(func(field string) (string, error) {
		switch {
		case field == "metadata.name", field == "metadata.namespace" && (d.Namespaced || !d.Custom && !d.selects()):
			return field, nil
		case slices.Contains(d.Selectable, field):
			if stored, ok := d.renamed[field]; ok {
				return stored, nil
			}
			return field, nil
		}
		return "", d.unknownField(field)
	})
}

// selects tells whether the type has fields of its own to select by.
func (d *Definition) selects() bool { return len(d.Selectable) > 0 }

func (d *Definition) unknownField(field string) error {
	if d.Custom || d.selects() {
		return fmt.Errorf("field label not supported: %s", field)
	}
	return fmt.Errorf(`%q is not a known field selector: only "metadata.name", "metadata.namespace"`, field)
}
