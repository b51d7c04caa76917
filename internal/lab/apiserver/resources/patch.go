package resources

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"orrery/restclient/api"
)

// ApplyPatch applies a patch of one of three kinds. A JSON patch (RFC 6902) is a list of
// operations. A merge patch (RFC 7386) is a partial document, in which null removes and a list
// replaces the old one. A strategic merge patch merges lists by the merge keys of the types, and
// has directives:
//
//	{"$patch": "replace", ...}              replaces the map, or in a list the list
//	{"$patch": "delete", "name": "log"}     deletes the element with this key
//	"$retainKeys": ["type"]                 deletes all other keys of the map
//	"$deleteFromPrimitiveList/finalizers"   deletes these values from the set
//	"$setElementOrder/containers"           gives the order of the merged list
//
// JSON patches and merge patches use evanphx/json-patch in kube-apiserver's version. Strategic
// merge patches are written by hand, because Kubernetes' library needs Go structs.
//
// Errors are *api.StatusError values with kube-apiserver's codes and messages: 400 for an invalid
// patch, 422 for one that does not fit the document or the type, 415 for an unsupported kind, and
// 500 for some contradictory strategic merge patches. testdata/patches.jsonl has patches with the
// answers of kube-apiserver.
//
// ApplyPatch returns a new tree and leaves current as it is. The values of the tree fit the type;
// unknown fields are still in it ([Type.Check] reports them).
//
// t is the type of the document. It is nil for a custom resource, for which strategic merge patches
// are refused (415).
func ApplyPatch(kind api.PatchType, current map[string]any, data []byte, t *Type) (map[string]any, error) {
	if err := SupportedPatch(kind, t == nil || t.Custom()); err != nil {
		return nil, err
	}
	result, err := apply(kind, current, data, t)
	if err != nil {
		return nil, err
	}
	keepKind(kind, current, result, t)
	if wrong := t.Check(result).TypeError; wrong != nil {
		return nil, RefusePatch(result, wrong.Error())
	}
	return result, nil
}

// keepKind restores kind and apiVersion if a patch has removed them. A strategic merge patch cannot
// change them either. Custom resources must state them.
func keepKind(kind api.PatchType, current, result map[string]any, t *Type) {
	if t == nil || t.Custom() {
		return
	}
	for _, field := range []string{"kind", "apiVersion"} {
		if value, ok := current[field]; ok && (kind == api.StrategicMergePatchType || result[field] == nil) {
			result[field] = value
		}
	}
}

// RefusePatch returns the error for a patch with an invalid result (422).
func RefusePatch(result map[string]any, why string) *api.StatusError {
	return Invalid("", "", "", []FieldError{{Type: FieldInvalid, Field: "patch", Value: encoded(result), Detail: why}})
}

// apply changes a copy of the document.
func apply(kind api.PatchType, current map[string]any, data []byte, t *Type) (map[string]any, error) {
	if kind != api.StrategicMergePatchType {
		return applyJSON(kind, current, data)
	}
	patch, err := strategicDocument(data)
	if err != nil {
		return nil, err
	}
	return mergeMaps(clone(current).(map[string]any), patch, t)
}

// cannotApply is the error for a JSON patch that does not fit the document. kube-apiserver gives no
// reason.
func cannotApply() *api.StatusError {
	return Failure(http.StatusUnprocessableEntity, api.ReasonInvalid,
		"the server rejected our request due to an error in our request", &api.StatusDetails{})
}

// impossible is the error for a contradictory strategic merge patch, for which kube-apiserver
// returns 500.
func impossible(format string, args ...any) *api.StatusError {
	return Failure(http.StatusInternalServerError, "", fmt.Sprintf(format, args...), nil)
}

// SupportedPatch refuses the content types that this server does not apply to a resource (415),
// like kube-apiserver before it reads the patch or the object. Server-side apply is not
// implemented.
func SupportedPatch(kind api.PatchType, custom bool) error {
	switch {
	case kind == api.JSONPatchType, kind == api.MergePatchType, kind == api.StrategicMergePatchType && !custom:
		return nil
	case kind == api.ApplyPatchType || kind == "application/apply-patch+cbor":
		return UnsupportedMediaType(
			"server-side apply is not supported by this server: use a merge patch, a strategic merge patch " +
				"or a JSON patch (kubectl apply without --server-side)")
	case custom:
		return UnsupportedMediaType(
			"the body of the request was in an unknown format - accepted media types include: " +
				"application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml")
	}
	refused := UnsupportedMediaType("415: Unsupported Media Type")
	refused.Status.Details = &api.StatusDetails{} // as in kube-apiserver
	return refused
}

// As in kube-apiserver, the copies of a patch are limited, so that a short patch cannot double a
// document repeatedly.
func init() { jsonpatch.AccumulatedCopySizeLimit = 3 << 20 }

// jsonPatchOp is an operation of a JSON patch. Its names and types appear in error messages.
type jsonPatchOp struct {
	Op    string `json:"op"`
	From  string `json:"from"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// applyJSON applies a JSON patch (RFC 6902) or a merge patch (RFC 7386) with the library of
// kube-apiserver. Clients rely on its deviations from the RFC: the target of a replace may be
// absent, and indices may count from the end.
func applyJSON(kind api.PatchType, current map[string]any, data []byte) (map[string]any, error) {
	if current == nil {
		current = map[string]any{}
	}
	document, err := json.Marshal(current)
	if err != nil {
		return nil, err
	}
	apply := mergePatch
	if kind == api.JSONPatchType {
		apply = jsonPatch
	}
	patched, err := apply(document, data)
	if err != nil {
		return nil, err
	}
	result := &api.Unstructured{}
	if err := json.Unmarshal(patched, result); err != nil || result.Object == nil {
		return nil, cannotApply()
	}
	return result.Object, nil
}

func jsonPatch(document, data []byte) (patched []byte, err error) {
	var readable []jsonPatchOp
	if err := json.Unmarshal(data, &readable); err != nil {
		return nil, undecodable(err)
	}
	operations, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, BadRequest(err.Error())
	}
	defer func() {
		if recover() != nil { // the library panics if the document is replaced by null
			patched, err = nil, cannotApply()
		}
	}()
	if patched, err = operations.Apply(document); err != nil {
		return nil, cannotApply()
	}
	return patched, nil
}

func mergePatch(document, data []byte) ([]byte, error) {
	var readable map[string]any
	if err := json.Unmarshal(data, &readable); err != nil {
		return nil, undecodable(err)
	}
	patched, err := jsonpatch.MergePatch(document, data)
	if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
		return nil, BadRequest(err.Error())
	}
	return patched, err
}

// undecodable names the types as kube-apiserver's package does.
func undecodable(err error) error {
	return BadRequest("error decoding patch: " + strings.ReplaceAll(err.Error(), "resources.jsonPatchOp",
		"handlers.jsonPatchOp"))
}
