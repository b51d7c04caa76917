package resources

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"orrery/restclient/api"
)

// maxAnnotations limits the total size of an object's annotations, in bytes.
const maxAnnotations = 256 << 10

// ObjectMetaValidation validates the metadata of a new object: name, labels, annotations,
// finalizers, owner references.
func ObjectMetaValidation(d *Definition, o *api.Unstructured) []FieldError {
	var m Errors
	rule := d.Strategy.ValidateName
	if rule == nil {
		rule = dnsSubdomain
	}
	metadata := child(o.Object, "metadata")
	if name := text(metadata, "name"); name == "" {
		m.required("metadata.name", "name or generateName is required")
	} else {
		m.names("metadata.name", name, rule(name))
	}
	switch namespace := text(metadata, "namespace"); {
	case d.Namespaced && namespace == "":
		m.required("metadata.namespace", "")
	case d.Namespaced:
		m.names("metadata.namespace", namespace, dnsLabel(namespace))
	case namespace != "":
		m.Forbidden("metadata.namespace", "not allowed on this type")
	}
	m.metadata(metadata)
	m.finalizers(texts(metadata, "finalizers"))
	m.unqualified(d, metadata)
	return m
}

// metadata validates labels, annotations and owner references.
func (m *Errors) metadata(metadata tree) {
	m.labels(child(metadata, "labels"), "metadata.labels")
	m.annotations(child(metadata, "annotations"))
	m.ownerReferences(metadata)
}

func (m *Errors) labels(labels tree, path string) {
	for _, key := range sortedKeys(labels) {
		m.names(path, key, qualifiedName(key))
		value := text(labels, key)
		m.names(path, value, labelValue(value))
	}
}

func (m *Errors) annotations(annotations tree) {
	total := 0
	for _, key := range sortedKeys(annotations) {
		m.names("metadata.annotations", key, qualifiedName(strings.ToLower(key)))
		total += len(key) + len(text(annotations, key))
	}
	if total > maxAnnotations {
		m.Add(FieldTooLong, "metadata.annotations", nil,
			fmt.Sprintf("may not be more than %d bytes", maxAnnotations))
	}
}

func (m *Errors) ownerReferences(metadata tree) {
	const path = "metadata.ownerReferences"
	var owners []api.OwnerReference
	data, _ := json.Marshal(metadata["ownerReferences"])
	_ = json.Unmarshal(data, &owners) // the schema has checked the types
	controller := ""
	for _, owner := range owners {
		m.ownerReference(owner, path)
		if owner.Controller == nil || !*owner.Controller {
			continue
		}
		name := owner.Kind + "/" + owner.Name
		if controller != "" {
			m.Invalid(path, owners, fmt.Sprintf("Only one reference can have Controller set to true. "+
				"Found \"true\" in references for %s and %s", controller, name))
		}
		controller = name
	}
}

func (m *Errors) ownerReference(owner api.OwnerReference, path string) {
	gv, err := api.ParseGroupVersion(owner.APIVersion)
	if err != nil || gv.Version == "" {
		m.Invalid(path+".apiVersion", owner.APIVersion, "version must not be empty")
	}
	for _, field := range [][2]string{{"kind", owner.Kind}, {"name", owner.Name}, {"uid", owner.UID}} {
		if field[1] == "" {
			m.Invalid(path+"."+field[0], "", "must not be empty")
		}
	}
	if err == nil && gv == (api.GroupVersion{Version: "v1"}) && owner.Kind == "Event" {
		m.Invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner")
	}
}

// The finalizers of Kubernetes.
const (
	// FinalizerOrphan holds an object until its dependents no longer refer to it.
	FinalizerOrphan = "orphan"
	// FinalizerForeground holds an object until its dependents are gone.
	FinalizerForeground = "foregroundDeletion"
	// FinalizerClaimProtection keeps a claim while a pod uses it. It is the only finalizer that the
	// server adds on its own.
	FinalizerClaimProtection = "kubernetes.io/pvc-protection"
)

var standardFinalizers = []string{api.FinalizerKubernetes, FinalizerOrphan, FinalizerForeground}

func (m *Errors) finalizers(finalizers []string) {
	const path = "metadata.finalizers"
	for _, finalizer := range finalizers {
		m.names(path, finalizer, qualifiedName(finalizer))
	}
	if slices.Contains(finalizers, FinalizerOrphan) && slices.Contains(finalizers, FinalizerForeground) {
		m.Invalid(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set")
	}
}

const unknownFinalizer = "name is neither a standard finalizer name nor is it fully qualified"

func isKnownFinalizer(finalizer string) bool {
	return strings.Contains(finalizer, "/") || slices.Contains(standardFinalizers, finalizer)
}

// unqualified refuses finalizers without a domain, except the standard ones and for types that
// allow them.
func (m *Errors) unqualified(d *Definition, metadata tree) {
	if d.Custom || d.Strategy.LooseFinalizers {
		return
	}
	for i, finalizer := range texts(metadata, "finalizers") {
		if !isKnownFinalizer(finalizer) {
			m.Invalid(indexed("metadata.finalizers", i), finalizer, unknownFinalizer)
		}
	}
}

// Warnings returns the warnings for a write. old is nil for a new object.
func Warnings(d *Definition, o, old *api.Unstructured) []string {
	if d.Custom {
		return finalizerWarnings(o, old)
	}
	if d.Strategy.Warnings != nil {
		return d.Strategy.Warnings(o)
	}
	return nil
}

// finalizerWarnings warns of each finalizer added to a custom resource that has no domain and is
// not a standard one.
func finalizerWarnings(o, old *api.Unstructured) []string {
	added := slices.Clone(o.GetFinalizers())
	if old != nil {
		before := old.GetFinalizers()
		added = slices.DeleteFunc(added, func(finalizer string) bool { return slices.Contains(before, finalizer) })
	}
	slices.Sort(added)
	var warnings []string
	for _, finalizer := range slices.Compact(added) {
		path := ""
		switch {
		case isKnownFinalizer(finalizer):
			continue
		case strings.Contains(finalizer, "."):
			path = "including a path (/) "
		}
		warnings = append(warnings,
			fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer name %sto avoid "+
				"accidental conflicts with other finalizer writers", finalizer, path))
	}
	return warnings
}

// MetaUpdateValidation validates the metadata of o and its change from old: immutable fields, and
// finalizers added during deletion. The registry has restored the fields that a client may omit.
func MetaUpdateValidation(d *Definition, o, old *api.Unstructured) []FieldError {
	var m Errors
	metadata, before := child(o.Object, "metadata"), child(old.Object, "metadata")
	m.metadata(metadata)
	m.finalizers(texts(metadata, "finalizers"))
	if has(before, "deletionTimestamp") {
		m.noNewFinalizers(texts(metadata, "finalizers"), texts(before, "finalizers"))
	}
	for _, key := range []string{"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds"} {
		m.immutable("metadata."+key, metadata[key], before[key])
	}
	m.unqualified(d, metadata)
	return m
}

func (m *Errors) noNewFinalizers(finalizers, before []string) {
	var added []string
	for _, finalizer := range finalizers {
		if !slices.Contains(before, finalizer) && !slices.Contains(added, finalizer) {
			added = append(added, finalizer)
		}
	}
	if len(added) > 0 {
		slices.Sort(added)
		m.Forbidden("metadata.finalizers",
			fmt.Sprintf("no new finalizers can be added if the object is being deleted, found new finalizers %#v",
				added))
	}
}
