package apiserver

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orrery/internal/lab/apiserver/meta"
	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// readObject reads the object in the body of a create or update, validates its fields as the client
// asks, and returns it with kind and apiVersion.
func (x *exchange) readObject(want api.GroupVersionKind, t *resources.Type, custom bool, validation fieldValidation) (*api.Unstructured, error) {
	form, err := encodingOf(x.r.Header)
	if err != nil {
		return nil, err
	}
	body, err := x.readBody()
	if err != nil {
		return nil, err
	}
	doc, err := form.read(body)
	if err == nil && custom {
		err = doc.missingKind()
	}
	if err != nil {
		return nil, unrecognized(want, body, err)
	}
	object, err := doc.tree()
	if err != nil {
		return nil, unrecognized(want, body, err)
	}
	if err := x.checkKind(doc, object.GetName(), want, custom); err != nil {
		return nil, err
	}
	if err := x.checkFields(object.Object, doc, want, t, validation); err != nil {
		return nil, err
	}
	object.Object["kind"], object.Object["apiVersion"] = want.Kind, gvOf(want).String()
	return object, nil
}

func unrecognized(want api.GroupVersionKind, body []byte, err error) error {
	return meta.BadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", want.Kind,
		err, summary(body)))
}

func gvOf(gvk api.GroupVersionKind) api.GroupVersion {
	return api.GroupVersion{Group: gvk.Group, Version: gvk.Version}
}

// checkKind compares kind and apiVersion of the document with those of the path, which are the
// defaults.
func (x *exchange) checkKind(doc incoming, name string, want api.GroupVersionKind, custom bool) error {
	expected := gvOf(want).String()
	kind, apiVersion := cmp.Or(doc.kind, want.Kind), cmp.Or(doc.apiVersion, expected)
	if kind == want.Kind && apiVersion == expected {
		return nil
	}
	if custom {
		return customKindMismatch(kind, apiVersion, name, want)
	}
	sentence := x.kindMismatch(kind, apiVersion, want)
	if kind == want.Kind && !strings.HasPrefix(sentence, "no kind") {
		return meta.BadRequest(sentence)
	}
	gv, _ := api.ParseGroupVersion(apiVersion)
	return meta.BadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %s", kind, gv.Version, want.Kind,
		sentence))
}

// kindMismatch explains why a document of one kind is not accepted as another.
func (x *exchange) kindMismatch(kind, apiVersion string, want api.GroupVersionKind) string {
	gv, _ := api.ParseGroupVersion(apiVersion)
	other, known := x.server.catalog.ByKind(api.GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: kind})
	switch {
	case !known || other.Custom:
		return notRegistered(kind, apiVersion)
	case kind == want.Kind:
		return versionMismatch(apiVersion, gvOf(want).String())
	}
	return fmt.Sprintf("converting (%s.%s) to (%s.%s): unknown conversion", gv.Version, kind, internalPackage(want.Group), want.Kind)
}

// notRegistered returns the message for an unknown kind. The source position is part of
// kube-apiserver's message.
func notRegistered(kind, apiVersion string) string {
	return fmt.Sprintf("no kind %q is registered for version %q in scheme \"pkg/runtime/scheme.go:111\"", kind, apiVersion)
}

func versionMismatch(found, expected string) string {
	return fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", found, expected)
}

func customKindMismatch(kind, apiVersion, name string, want api.GroupVersionKind) error {
	if expected := gvOf(want).String(); apiVersion != expected {
		return meta.BadRequest(versionMismatch(apiVersion, expected))
	}
	return meta.Invalid(want.Group, kind, name, []meta.FieldError{{
		Type: meta.FieldInvalid, Field: "kind", Value: kind, Detail: "must be " + want.Kind,
	}})
}

// internalPackage returns the Go package of kube-apiserver's internal types of a group.
func internalPackage(group string) string {
	if group == "" {
		return "core"
	}
	name, _, _ := strings.Cut(group, ".")
	return name
}

// checkFields compares a document with its type and prunes unknown fields. A value of the wrong
// type is always refused; unknown fields are handled as the client asks.
func (x *exchange) checkFields(tree map[string]any, doc incoming, want api.GroupVersionKind, t *resources.Type, validation fieldValidation) error {
	cannot := fmt.Sprintf("%s in version %q cannot be handled as a %s: ", want.Kind, want.Version, want.Kind)
	problems, misfit := findings(tree, doc, t)
	switch {
	case misfit != nil:
		return meta.BadRequest(cannot + misfit.Error())
	case len(problems) > 0 && validation == strictFields:
		return meta.BadRequest(cannot + strictSentence(problems))
	case validation == warnOfFields:
		x.warn(problems)
	}
	t.Prune(tree)
	return nil
}

func strictSentence(problems []string) string {
	return "strict decoding error: " + strings.Join(problems, ", ")
}

// findings compares a document with its type. misfit reports a value of the wrong type, unknown are
// the unknown fields.
func findings(tree map[string]any, doc incoming, t *resources.Type) (unknown []string, misfit error) {
	found := t.Check(tree)
	if found.TypeError != nil {
		return nil, found.TypeError
	}
	if t.Custom() { // kube-apiserver sorts these
		return found.Unknown, nil
	}
	// kube-apiserver reports them in document order, which the tree has lost.
	positions := map[string]int{} // computed once, because documents may be long
	for _, sentence := range found.Unknown {
		positions[sentence] = doc.position(sentence)
	}
	slices.SortStableFunc(found.Unknown, func(a, b string) int { return cmp.Compare(positions[a], positions[b]) })
	return found.Unknown, nil
}

// position returns where in the document the field of a message is, by its name.
func (doc *incoming) position(sentence string) int {
	_, path, _ := strings.Cut(sentence, `"`)
	path = strings.TrimSuffix(path, `"`)
	name := path[strings.LastIndexByte(path, '.')+1:]
	return bytes.Index(doc.data, []byte(strconv.Quote(name)))
}

// maxWarnings limits the size of the warning headers.
const maxWarnings = 4 << 10

// warn adds warning headers, each text once.
func (x *exchange) warn(sentences []string) {
	total := 0
	for _, sentence := range sentences {
		if total += len(sentence); total > maxWarnings {
			return
		}
		if warning := "299 - " + strconv.Quote(sentence); !slices.Contains(x.w.Header()["Warning"], warning) {
			x.w.Header().Add("Warning", warning)
		}
	}
}
