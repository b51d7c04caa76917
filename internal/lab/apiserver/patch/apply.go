package patch

import (
	"encoding/json"
	"fmt"
	"net/http"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

// LargestResult bounds what a JSON patch or merge patch may make of a document, in bytes of JSON. Bodies have the same limit.
const LargestResult = 3 << 20

// Apply returns the document that the patch makes of current, which stays as it is. The result is a tree of the caller's
// own, and its values fit the type; fields that the type does not have are still in it (schema.Type.Check names them).
//
// t is the type of the document; nil for a custom resource, for which a strategic merge patch is refused (415), because
// nothing is known of its lists.
func Apply(kind api.PatchType, current map[string]any, data []byte, t *schema.Type) (map[string]any, error) {
	if err := Supported(kind, t == nil || t.Custom()); err != nil {
		return nil, err
	}
	result, err := apply(kind, current, data, t)
	if err != nil {
		return nil, err
	}
	keepKind(kind, current, result, t)
	if wrong := t.Check(result).TypeError; wrong != nil {
		if kind == api.StrategicMergePatchType {
			wrong = restored(wrong)
		}
		return nil, Refuse(kind, data, result, wrong.Error())
	}
	return result, nil
}

// keepKind puts kind and apiVersion back where a patch has removed them; a strategic merge patch cannot even change them. In the
// documents of custom resources nothing else says what they are.
func keepKind(kind api.PatchType, current, result map[string]any, t *schema.Type) {
	if t == nil || t.Custom() {
		return
	}
	for _, field := range []string{"kind", "apiVersion"} {
		if value, ok := current[field]; ok && (kind == api.StrategicMergePatchType || result[field] == nil) {
			result[field] = value
		}
	}
}

// Refuse is the answer to a patch whose result the server does not take, for the reason that is given (422). It shows the result,
// or for a strategic merge patch the patch.
func Refuse(kind api.PatchType, data []byte, result map[string]any, why string) *api.StatusError {
	if kind == api.StrategicMergePatchType {
		if patch, err := strategicDocument(data); err == nil {
			return refused(fmt.Sprint(patch), why)
		}
	}
	return refused(text(result), why)
}

// apply changes a copy of the document.
func apply(kind api.PatchType, current map[string]any, data []byte, t *schema.Type) (map[string]any, error) {
	if kind != api.StrategicMergePatchType {
		return applyJSON(kind, current, data)
	}
	patch, err := strategicDocument(data)
	if err != nil {
		return nil, err
	}
	document := (&api.Unstructured{Object: current}).DeepCopy().Object
	if document == nil {
		document = map[string]any{}
	}
	return mergeMaps(document, patch, t)
}

func text(document map[string]any) string {
	encoded, err := json.Marshal(document)
	if err != nil {
		return err.Error()
	}
	return string(encoded)
}

func refused(shown, why string) *api.StatusError {
	return apierrors.Invalid("", "", "", []apierrors.FieldError{
		{Type: apierrors.FieldInvalid, Field: "patch", Value: shown, Detail: why}})
}

// cannotApply is the answer to a JSON patch that does not fit the document. kube-apiserver gives no reason.
func cannotApply() *api.StatusError {
	return api.NewStatusError(api.Status{Status: api.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: api.ReasonInvalid,
		Message: "the server rejected our request due to an error in our request", Details: &api.StatusDetails{}})
}

// impossible is the answer to a strategic merge patch that contradicts itself or its type: kube-apiserver takes the blame.
func impossible(format string, args ...any) *api.StatusError {
	return api.NewStatusError(api.Status{Status: api.StatusFailure, Code: http.StatusInternalServerError, Message: fmt.Sprintf(format, args...)})
}

// Supported refuses the content types that this server does not apply to a resource (415). kube-apiserver does so
// before it looks at the patch or at the object. Server-side apply is not built.
func Supported(kind api.PatchType, custom bool) error {
	switch {
	case kind == api.JSONPatchType, kind == api.MergePatchType, kind == api.StrategicMergePatchType && !custom:
		return nil
	case kind == api.ApplyPatchType || kind == "application/apply-patch+cbor":
		return apierrors.UnsupportedMediaType("server-side apply is not built into this server: use a merge patch, a strategic merge patch " +
			"or a JSON patch (kubectl apply without --server-side)")
	case custom:
		return apierrors.UnsupportedMediaType("the body of the request was in an unknown format - accepted media types include: " +
			"application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml")
	}
	refused := apierrors.UnsupportedMediaType("415: Unsupported Media Type")
	refused.Status.Details = &api.StatusDetails{} // so it is in the original
	return refused
}
