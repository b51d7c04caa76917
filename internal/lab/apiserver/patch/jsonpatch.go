package patch

import (
	"fmt"
	"reflect"

	"orrery/internal/lab/apiserver/apierrors"
)

// LargestOperations is how many operations a JSON patch may have.
const LargestOperations = 10_000

// jsonPatch is a JSON patch (RFC 6902), with kube-apiserver's departures from the RFC, on which clients have come to rely: what
// replaces need not be there, what is copied neither (it is null then), indices may count from the end (-1), and
// values that are missing are null.
func jsonPatch(document map[string]any, data []byte) (map[string]any, error) {
	operations, err := operationsOf(data)
	if err != nil {
		return nil, err
	}
	if len(operations) > LargestOperations {
		return nil, apierrors.RequestEntityTooLarge(fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", LargestOperations, len(operations)))
	}
	e := &editor{root: document}
	for _, operation := range operations {
		if !e.apply(operation) {
			return nil, cannotApply()
		}
	}
	result, ok := e.root.(map[string]any)
	if !ok {
		return nil, cannotApply()
	}
	return result, nil
}

// operation is one step of a JSON patch. A member that is nil is missing or null.
type operation map[string]any

func (o operation) text(member string) (string, bool) {
	value, ok := o[member].(string)
	return value, ok
}

func operationsOf(data []byte) ([]operation, error) {
	value, err := decode(data)
	if err != nil {
		return nil, undecodable(err)
	}
	list, ok := value.([]any)
	if !ok && value != nil {
		return nil, undecodable(notA(value, "[]handlers.jsonPatchOp"))
	}
	operations := make([]operation, len(list))
	for i, entry := range list {
		members, ok := entry.(map[string]any)
		if !ok && entry != nil {
			return nil, undecodable(notA(entry, "handlers.jsonPatchOp"))
		}
		for _, name := range []string{"op", "from", "path"} {
			if _, ok := members[name].(string); !ok && members[name] != nil {
				return nil, undecodable(&mismatch{found: found(members[name]), field: "jsonPatchOp." + name, goType: "string"})
			}
		}
		operations[i] = members
	}
	return operations, nil
}

func (e *editor) apply(o operation) bool {
	kind, _ := o.text("op")
	path, ok := o.text("path")
	if !ok {
		return false
	}
	switch kind {
	case "add":
		return e.add(path, o["value"])
	case "remove":
		return e.remove(path)
	case "replace":
		return e.replace(path, o["value"])
	case "test":
		return e.test(path, o["value"])
	case "move", "copy":
		from, ok := o.text("from")
		if !ok {
			return false
		}
		if kind == "move" {
			return e.move(from, path)
		}
		return e.copy(from, path)
	}
	return false
}

func (e *editor) test(path string, want any) bool {
	if path == "" {
		return e.spend(e.root, want) && reflect.DeepEqual(e.root, want)
	}
	place, ok := e.find(path)
	if !ok {
		return false
	}
	value, ok := place.get()
	return ok && e.spend(value, want) && reflect.DeepEqual(value, want)
}
