package apiserver

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"orrery/internal/apiserver/apierrors"
	"orrery/internal/apiserver/resources"
	"orrery/internal/apiserver/schema"
	"orrery/restclient/api"
)

// readObject reads the object in the body of a create or update, checks it against its type as far as the client wants that, and
// returns it as a tree with kind and apiVersion.
func (x *exchange) readObject(want api.GroupVersionKind, t *schema.Type, custom bool, validation fieldValidation) (*api.Unstructured, error) {
	form, err := encodingOf(x.r.Header)
	if err != nil {
		return nil, err
	}
	received, err := x.readBody()
	if err != nil {
		return nil, err
	}
	unrecognized := func(err error) error {
		return apierrors.BadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", want.Kind, err, summary(received)))
	}
	data, err := form.toJSON(received)
	if err != nil {
		return nil, unrecognized(err)
	}
	kind, apiVersion, err := kindOf(data)
	if err != nil {
		return nil, unrecognized(err)
	}
	if custom {
		if missing := missingKind(kind, apiVersion, data); missing != nil {
			return nil, unrecognized(missing)
		}
	}
	if err := x.checkKind(kind, apiVersion, want, custom); err != nil {
		return nil, err
	}
	object := &api.Unstructured{}
	if err := json.Unmarshal(data, object); err != nil {
		return nil, unrecognized(err)
	}
	if object.Object == nil { // null
		object.Object = map[string]any{}
	}
	if err := x.checkFields(object.Object, data, want, t, validation); err != nil {
		return nil, err
	}
	object.Object["kind"], object.Object["apiVersion"] = want.Kind, gvOf(want).String()
	return object, nil
}

func gvOf(gvk api.GroupVersionKind) api.GroupVersion {
	return api.GroupVersion{Group: gvk.Group, Version: gvk.Version}
}

// missingKind complains of a document that does not say what it is. Types that were compiled into the original need not say it.
func missingKind(kind, apiVersion string, data []byte) error {
	switch {
	case kind == "":
		return fmt.Errorf("Object 'Kind' is missing in '%s'", data)
	case apiVersion == "":
		return fmt.Errorf("Object 'apiVersion' is missing in '%s'", data)
	}
	return nil
}

// checkKind compares what the document says it is with what belongs to the path. What it does not say is taken from the path.
func (x *exchange) checkKind(kind, apiVersion string, want api.GroupVersionKind, custom bool) error {
	expected := gvOf(want).String()
	if kind == "" {
		kind = want.Kind
	}
	if apiVersion == "" {
		apiVersion = expected
	}
	if kind == want.Kind && apiVersion == expected {
		return nil
	}
	if custom {
		return customKindMismatch(kind, apiVersion, want)
	}
	cannot := fmt.Sprintf("%s in version %q cannot be handled as a %s: ", kind, apiVersion, want.Kind)
	gv, err := api.ParseGroupVersion(apiVersion)
	if err != nil {
		return apierrors.BadRequest(cannot + err.Error())
	}
	other, known := x.server.catalog.ByKind(api.GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: kind})
	switch {
	case !known || other.Custom:
		return apierrors.BadRequest(cannot + notRegistered(kind, apiVersion))
	case kind == want.Kind:
		return apierrors.BadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", apiVersion, expected))
	}
	return apierrors.BadRequest(cannot + fmt.Sprintf("converting (%s.%s) to (%s.%s): unknown conversion",
		gv.Version, kind, internalPackage(want.Group), want.Kind))
}

// notRegistered is the sentence for a kind that nobody knows. Where the original's types are registered is part of it.
func notRegistered(kind, apiVersion string) string {
	return fmt.Sprintf("no kind %q is registered for version %q in scheme \"pkg/runtime/scheme.go:111\"", kind, apiVersion)
}

func customKindMismatch(kind, apiVersion string, want api.GroupVersionKind) error {
	gv, _ := api.ParseGroupVersion(apiVersion)
	var wrong []apierrors.FieldError
	if kind != want.Kind {
		wrong = append(wrong, apierrors.FieldError{Type: apierrors.FieldInvalid, Field: "kind", Value: kind, Detail: "must be " + want.Kind})
	}
	if apiVersion != gvOf(want).String() {
		wrong = append(wrong, apierrors.FieldError{Type: apierrors.FieldInvalid, Field: "apiVersion", Value: apiVersion, Detail: "must be " + gvOf(want).String()})
	}
	return apierrors.Invalid(gv.Group, kind, "", wrong)
}

// internalPackage is the Go package in which the original keeps the types of a group.
func internalPackage(group string) string {
	if group == "" {
		return "core"
	}
	name, _, _ := strings.Cut(group, ".")
	return name
}

// checkFields compares a document with its type. Values of a wrong type are always refused; fields that are unknown or come twice as
// the client wishes.
func (x *exchange) checkFields(tree map[string]any, data []byte, want api.GroupVersionKind, t *schema.Type, validation fieldValidation) error {
	cannot := fmt.Sprintf("%s in version %q cannot be handled as a %s: ", want.Kind, want.Version, want.Kind)
	findings := t.Check(tree)
	if findings.TypeError != nil {
		return apierrors.BadRequest(cannot + findings.TypeError.Error())
	}
	if validation == ignoreFields {
		t.Prune(tree)
		return nil
	}
	var mistakes []string
	if data != nil {
		mistakes = schema.Duplicates(data)
	}
	mistakes = append(mistakes, findings.Unknown...)
	t.Prune(tree)
	if len(mistakes) == 0 {
		return nil
	}
	if validation == strictFields {
		return apierrors.BadRequest(cannot + "strict decoding error: " + strings.Join(mistakes, ", "))
	}
	x.warn(mistakes)
	return nil
}

// largestWarnings bounds the headers that warnings take.
const largestWarnings = 4 << 10

// warn tells the client something that is no reason to refuse.
func (x *exchange) warn(sentences []string) {
	total := 0
	for _, sentence := range sentences {
		if total += len(sentence); total > largestWarnings {
			return
		}
		x.w.Header().Add("Warning", "299 - "+strconv.Quote(sentence))
	}
}

// typeOf returns the schema of a resource's objects; nil for custom resources, in which everything fits.
func typeOf(def *resources.Definition) *schema.Type {
	t, _ := schema.Builtin().Type(kindOfResource(def))
	return t
}

func kindOfResource(def *resources.Definition) api.GroupVersionKind {
	return api.GroupVersionKind{Group: def.Group, Version: def.Version, Kind: def.Kind}
}
