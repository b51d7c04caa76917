package resources

import (
	"slices"
	"strings"

	"orrery/restclient/api"
)

// customResourceDefinitions make new types.
func customResourceDefinitions() *Definition {
	return &Definition{
		Group:   "apiextensions.k8s.io",
		Plural:  "customresourcedefinitions",
		Columns: []Column{nameColumn(), createdColumn()},
		Strategy: Strategy{
			LooseFinalizers: true,
			Default:         defaultCRD,
			PrepareCreate:   prepareCRD,
			PrepareUpdate:   prepareCRDUpdate,
			PrepareStatus:   statusKeepsMetadata("labels", "annotations", "ownerReferences"),
			Validate:        validateCRD,
			ValidateUpdate:  validateCRDUpdate,
		},
	}
}

func defaultCRD(o *api.Unstructured) {
	spec := made(o.Object, "spec")
	fillText(made(spec, "conversion"), "strategy", "None")
	names := made(spec, "names")
	if kind := text(names, "kind"); kind != "" {
		fillText(names, "singular", strings.ToLower(kind))
		fillText(names, "listKind", kind+"List")
	}
	conditionTimes(child(o.Object, "status"), "lastTransitionTime")
	for _, key := range []string{"plural", "kind"} {
		fill(names, key, "")
	}
	fill(spec, "group", "")
	fill(spec, "scope", "")
	if service := child(child(child(child(spec, "conversion"), "webhook"), "clientConfig"), "service"); service != nil {
		fill(service, "port", int64(443))
	}
}

// prepareCRD gives a new definition the status of one that nobody has looked at yet.
func prepareCRD(o *api.Unstructured) {
	firstGeneration(o)
	o.Object["status"] = tree{
		"acceptedNames": tree{"kind": "", "plural": ""}, "conditions": nil, "storedVersions": storageVersions(o, nil),
	}
}

// prepareCRDUpdate remembers the versions in which objects may be stored.
func prepareCRDUpdate(o, old *api.Unstructured) {
	specGeneration(o, old)
	status := made(o.Object, "status")
	stored, _ := status["storedVersions"].([]any)
	status["storedVersions"] = storageVersions(o, stored)
}

// storageVersions adds the storage version, the first if there are several, to a list of versions.
func storageVersions(o *api.Unstructured, stored []any) any {
	versions := items(child(o.Object, "spec"), "versions")
	i := slices.IndexFunc(versions, func(version tree) bool { return truth(version, "storage") })
	switch {
	case i >= 0 && !slices.Contains(stored, any(text(versions[i], "name"))):
		return append(slices.Clone(stored), text(versions[i], "name"))
	case stored == nil:
		return nil
	}
	return stored
}
