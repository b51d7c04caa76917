package patch

import (
	"encoding/json"
	"fmt"
	"net/http"

	"orrery/internal/apiserver/apierrors"
	"orrery/internal/apiserver/schema"
	"orrery/restclient/api"
)

// LargestResult bounds what a patch may make of a document, in bytes of JSON. Bodies have the same limit.
const LargestResult = 3 << 20

// Apply returns the document that the patch makes of current, which stays as it is. The result is a tree of the caller's
// own, and its values fit the type; fields that the type does not have are still in it ([Mistakes] names them).
//
// t is the type of the document; nil for a custom resource, for which a strategic merge patch is refused (415), because
// nothing is known of its lists.
func Apply(kind api.PatchType, current map[string]any, data []byte, t *schema.Type) (map[string]any, error) {
	if err := Supported(kind, t == nil || t.Custom()); err != nil {
		return nil, err
	}
	result, shown, err := apply(kind, current, data, t)
	if err != nil {
		return nil, err
	}
	if size(result) > LargestResult {
		return nil, apierrors.RequestEntityTooLarge(fmt.Sprintf("limit is %d", LargestResult))
	}
	if wrong := t.Check(result).TypeError; wrong != nil {
		if kind == api.StrategicMergePatchType {
			wrong = restored(wrong)
		}
		return nil, refused(shown(), wrong.Error())
	}
	return result, nil
}

// apply changes a copy of the document. The second result writes what kube-apiserver shows of a request that it refuses: the
// patched document, or for a strategic merge patch the patch.
func apply(kind api.PatchType, current map[string]any, data []byte, t *schema.Type) (map[string]any, func() string, error) {
	document := (&api.Unstructured{Object: current}).DeepCopy().Object
	if document == nil {
		document = map[string]any{}
	}
	var result map[string]any
	var err error
	switch kind {
	case api.JSONPatchType:
		result, err = jsonPatch(document, data)
	case api.MergePatchType:
		result, err = mergePatch(document, data)
	default:
		patch, failed := strategicDocument(data)
		if failed != nil {
			return nil, nil, failed
		}
		shown := fmt.Sprint(patch) // before it is taken apart
		result, err = strategic(document, patch, t)
		return result, func() string { return shown }, err
	}
	return result, func() string { return text(result) }, err
}

func text(document map[string]any) string {
	encoded, err := json.Marshal(document)
	if err != nil {
		return err.Error()
	}
	return string(encoded)
}

// refused is the answer to a patch whose result is no document of its type.
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
