package resources

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// limitRanges bound what single objects of a namespace may ask for. Nobody enforces them here.
func limitRanges() *Definition {
	return &Definition{
		Plural:  "limitranges",
		Columns: []Column{nameColumn(), createdColumn()},
		Strategy: Strategy{
			UpdateMeta:               CheckAll,
			PrepareCreate:            nameOfUID,
			Default:                  defaultLimitRange,
			Validate:                 validateLimitRange,
			AllowCreateOnUpdate:      true,
			AllowUnconditionalUpdate: true,
		},
	}
}

// nameOfUID names an object that has no name by its UID, which is what LimitRanges have come with since they exist.
func nameOfUID(o *api.Unstructured) {
	if o.GetName() == "" {
		metadata := made(o.Object, "metadata")
		metadata["name"] = metadata["uid"]
	}
}

// defaultLimitRange takes what is not said about containers from what is: the default from the maximum, the default
// request from the default, or else from the minimum.
func defaultLimitRange(o *api.Unstructured) {
	spec := made(o.Object, "spec")
	if isNothing(spec["limits"]) {
		spec["limits"] = nil
	}
	for _, limit := range items(spec, "limits") {
		if text(limit, "type") != "Container" {
			continue
		}
		fillMap(limit, "default", child(limit, "max"))
		fillMap(limit, "defaultRequest", child(limit, "default"))
		fillMap(limit, "defaultRequest", child(limit, "min"))
	}
}

// fillMap fills in the keys of a map that it does not have.
func fillMap(t tree, key string, from tree) {
	if len(from) == 0 {
		return
	}
	into := made(t, key)
	for name, value := range from {
		fill(into, name, value)
	}
}

func validateLimitRange(o *api.Unstructured) []apierrors.FieldError {
	var m mistakes
	for i, limit := range items(child(o.Object, "spec"), "limits") {
		path := at("spec.limits", i)
		if text(limit, "type") == "Pod" {
			for _, key := range []string{"default", "defaultRequest"} {
				if has(limit, key) {
					m.forbidden(path+"."+key, "may not be specified when `type` is 'Pod'")
				}
			}
			continue
		}
		m.limit(limit, path)
	}
	return m
}

func (m *mistakes) limit(limit tree, path string) {
	all := tree{}
	for _, key := range []string{"min", "max", "default", "defaultRequest"} {
		for name := range child(limit, key) {
			all[name] = true
		}
	}
	for _, name := range sortedKeys(all) {
		low, high := child(limit, "min")[name], child(limit, "max")[name]
		request, value := child(limit, "defaultRequest")[name], child(limit, "default")[name]
		m.ordered(under(path+".min", name), low, low, high, "min value %s is greater than max value %s")
		m.ordered(under(path+".defaultRequest", name), request, low, request, "min value %s is greater than default request value %s")
		m.ordered(under(path+".defaultRequest", name), request, request, high, "default request value %s is greater than max value %s")
		m.ordered(under(path+".defaultRequest", name), request, request, value, "default request value %s is greater than default limit value %s")
		m.ordered(under(path+".default", name), low, low, value, "min value %s is greater than default value %s")
		m.ordered(under(path+".default", name), value, value, high, "default value %s is greater than max value %s")
	}
}
