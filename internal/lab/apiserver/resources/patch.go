package resources

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
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

// The directives of a strategic merge patch.
const (
	directive        = "$patch"      // replace, delete
	retainKeys       = "$retainKeys" // the only keys to keep
	setElementOrder  = "$setElementOrder/"
	deleteFromValues = "$deleteFromPrimitiveList/"
)

// strategicDocument parses the patch. null changes nothing.
func strategicDocument(data []byte) (map[string]any, error) {
	var readable map[string]any
	if err := json.Unmarshal(data, &readable); err != nil {
		return nil, BadRequest(err.Error())
	}
	// api.Unstructured decodes numbers as in documents.
	patch := &api.Unstructured{}
	if err := json.Unmarshal(data, patch); err != nil {
		return nil, BadRequest(err.Error())
	}
	return patch.Object, nil
}

// mergeMaps merges the patch into the document and returns it, or another one if a directive says
// so. It changes both arguments.
func mergeMaps(document, patch map[string]any, t *Type) (map[string]any, error) {
	switch what, directed := patch[directive]; {
	case what == "replace":
		delete(patch, directive)
		return patch, nil
	case what == "delete":
		return map[string]any{}, nil
	case directed:
		return nil, impossible("unknown patch type: %s in map: %v", what, patch)
	}
	// The directives come first, because $ sorts before letters.
	order := map[string][]any{}
	for _, key := range sortedKeys(patch) {
		value := patch[key]
		list, isList := value.([]any)
		name := key[strings.IndexByte(key, '/')+1:]
		switch {
		case !strings.HasPrefix(key, "$"):
			if err := mergeField(document, key, value, t); err != nil {
				return nil, err
			}
		case !isList && key == retainKeys:
			return nil, BadRequest("invalid patch format of retainKeys")
		case !isList:
			return nil, impossible("expected a []interface {}, but received a %T", value)
		case key == retainKeys:
			kept := positionsOf(list, "")
			maps.DeleteFunc(document, func(name string, _ any) bool { return !kept.has(name, "") })
		case strings.HasPrefix(key, deleteFromValues):
			current, _ := document[name].([]any)
			deleted := positionsOf(list, "")
			document[name] = slices.DeleteFunc(current, func(value any) bool { return deleted.has(value, "") })
		case strings.HasPrefix(key, setElementOrder):
			order[name] = list
		}
	}
	for name, wanted := range order {
		list, known := t.Field(name)
		if !known {
			return nil, impossible("unable to find api field in struct %s for the json field %q", t.Name(), name)
		}
		if current, isList := document[name].([]any); isList {
			key := list.MergeKey()
			document[name] = inOrder(current, wanted, positionsOf(current, key), key)
		}
	}
	return document, nil
}

// mergeField merges one field of the patch.
func mergeField(document map[string]any, name string, value any, t *Type) (err error) {
	field, _ := t.Field(name) // an unknown field is merged, too, and refused or pruned later
	switch v := value.(type) {
	case nil:
		delete(document, name)
		return nil
	case map[string]any:
		current, isObject := document[name].(map[string]any)
		switch {
		case isObject && !field.PatchStrategy().Replace:
			document[name], err = mergeMaps(current, v, field)
			return err
		case has(v, directive):
			delete(document, name)
			return nil
		}
	case []any:
		if current, isList := document[name].([]any); isList && field.PatchStrategy().Merge {
			document[name], err = mergeLists(current, v, field)
			return err
		}
	}
	document[name] = plain(value)
	return nil
}

// mergeLists merges the elements of a list by the merge key of its type, or as a set if they are
// scalars.
func mergeLists(current, patch []any, t *Type) ([]any, error) {
	key := t.MergeKey()
	if slices.ContainsFunc(patch, func(element any) bool { return object(element)[directive] == "replace" }) {
		return plain(patch).([]any), nil
	}
	deleted := positions{}
	for _, element := range patch {
		if object(element)[directive] == "delete" {
			deleted[identity(element, key)] = 0
		}
	}
	current = slices.DeleteFunc(current, func(element any) bool { return deleted.has(element, key) })
	was := positionsOf(current, key)
	at := maps.Clone(was)
	for _, element := range patch {
		fields := object(element)
		switch what, directed := fields[directive]; {
		case key != "" && !has(fields, key):
			return nil, impossible("map: %v does not contain declared merge key: %s", element, key)
		case what == "delete":
			continue
		case directed:
			return nil, impossible("unknown patch type: %s in map: %v", what, element)
		}
		i, there := at[identity(element, key)]
		if !there {
			at[identity(element, key)] = len(current)
			current = append(current, plain(element))
		} else if old, isObject := current[i].(map[string]any); isObject {
			merged, err := mergeMaps(old, fields, t.Items())
			if err != nil {
				return nil, err
			}
			current[i] = merged
		}
	}
	return inOrder(current, patch, was, key), nil
}

// positions maps the identity of an element, its merge key or its value, to its first position in a
// list. Because clients choose the length of lists, nothing here may take quadratic time.
type positions map[any]int

func positionsOf(list []any, key string) positions {
	at := make(positions, len(list))
	for i, value := range list {
		if !at.has(value, key) {
			at[identity(value, key)] = i
		}
	}
	return at
}

func (p positions) has(value any, key string) bool {
	_, found := p[identity(value, key)]
	return found
}

func identity(value any, key string) any {
	if element, ok := value.(map[string]any); ok && key != "" {
		value = element[key]
	}
	switch value.(type) {
	case map[string]any, []any: // not comparable in Go
		return [1]string{encoded(value)} // never equal to a text
	}
	return value
}

// inOrder sorts a list: the elements of the patch in its order; the others keep their position
// relative to them. was has the positions before the patch.
func inOrder(list, patch []any, was positions, key string) (out []any) {
	wanted := positionsOf(patch, key)
	var named, others []any
	for _, value := range list {
		if wanted.has(value, key) {
			named = append(named, value)
		} else {
			others = append(others, value)
		}
	}
	slices.SortStableFunc(named, func(a, b any) int { return wanted[identity(a, key)] - wanted[identity(b, key)] })
	for len(named) > 0 && len(others) > 0 {
		ours, known := was[identity(named[0], key)]
		if known && was[identity(others[0], key)] < ours {
			out, others = append(out, others[0]), others[1:]
		} else {
			out, named = append(out, named[0]), named[1:]
		}
	}
	return slices.Concat(out, others, named)
}

// plain removes from a new value what has no meaning there: nulls and $patch directives.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if inner == nil || has(object(inner), directive) {
				delete(v, key)
				continue
			}
			v[key] = plain(inner)
		}
	case []any:
		kept := make([]any, 0, len(v))
		for _, inner := range v {
			if !has(object(inner), directive) {
				kept = append(kept, plain(inner))
			}
		}
		return kept
	}
	return value
}
