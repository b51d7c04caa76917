package patch

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// MaxOperations limits the operations of a JSON patch.
const MaxOperations = 10_000

// As in kube-apiserver, the copies of a patch are limited, so that a short patch cannot double a
// document repeatedly.
func init() { jsonpatch.AccumulatedCopySizeLimit = MaxResult }

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
	if len(patched) > MaxResult {
		return nil, apierrors.RequestEntityTooLarge(fmt.Sprintf("limit is %d", MaxResult))
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
		return nil, apierrors.BadRequest(err.Error())
	}
	if len(operations) > MaxOperations {
		return nil, apierrors.RequestEntityTooLarge(fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", MaxOperations, len(operations)))
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
		return nil, apierrors.BadRequest(err.Error())
	}
	return patched, err
}

// undecodable names the types as kube-apiserver's package does.
func undecodable(err error) error {
	return apierrors.BadRequest("error decoding patch: " + strings.ReplaceAll(err.Error(), "patch.jsonPatchOp", "handlers.jsonPatchOp"))
}
