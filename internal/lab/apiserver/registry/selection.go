package registry

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/selector"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// selection is which objects of a collection a list or a watch is about.
type selection struct {
	namespace string
	labels    selector.Labels
	fields    selector.Fields
}

// selects reads the selectors of a request. mistakes are what is wrong with its other options, which is told after what is wrong
// with the form of the selectors, and before what is wrong with the fields in them.
func (t Target) selects(o api.ListOptions, mistakes []apierrors.FieldError) (selection, error) {
	labels, err := selector.ParseLabels(o.LabelSelector)
	if err != nil {
		return selection{}, apierrors.BadRequest(err.Error())
	}
	fields, err := selector.ParseFields(o.FieldSelector)
	if err != nil {
		return selection{}, apierrors.BadRequest(err.Error())
	}
	if err := invalidOptions(mistakes); err != nil {
		return selection{}, err
	}
	if fields, err = t.Definition.FieldSelector(fields); err != nil {
		return selection{}, apierrors.BadRequest(err.Error())
	}
	return selection{namespace: t.in(), labels: labels, fields: fields}, nil
}

const (
	nameField      = "metadata.name"
	namespaceField = "metadata.namespace"
)

// all tells whether there are no selectors.
func (s *selection) all() bool { return s.labels.Empty() && s.fields.Empty() }

func (s *selection) matches(o *store.Object) bool {
	if s.namespace != "" && o.Key.Namespace != s.namespace {
		return false
	}
	return (s.labels.Empty() || s.labels.Matches(o.Labels)) &&
		(s.fields.Empty() || s.fields.Matches(func(field string) string { return fieldOf(o, field) }))
}

func fieldOf(o *store.Object, field string) string {
	switch field {
	case nameField:
		return o.Key.Name
	case namespaceField:
		return o.Key.Namespace
	}
	return o.Fields[field]
}
