package resources_test

import (
	"encoding/json"
	"errors"
	"testing"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

var fuzzed = []api.PatchType{api.JSONPatchType, api.MergePatchType, api.StrategicMergePatchType, api.ApplyPatchType}

// FuzzApplyPatch applies arbitrary bytes as every kind of patch: ApplyPatch never panics, fails
// only with a Status, and does not change the document.
func FuzzApplyPatch(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `x`, `{"metadata":{"finalizers":["a.b/c"],"labels":{"a":null}}}`, `{"spec":{"containers":[{"name":"c","$patch":"delete"}]}}`,
		`{"spec":{"$setElementOrder/containers":[{"name":"d"},{"name":"c"}],"containers":[{"name":"d","env":[{"name":"A"}]}]}}`,
		`{"spec":{"$retainKeys":["containers"],"containers":[{"$patch":"replace"}]}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["x.y/z"]}}`,
		`{"spec":{"$setElementOrder/tolerations":[{"key":"x"}],"$setElementOrder/containers":[null,[],{}]}}`,
		`[{"op":"add","path":"/spec/containers/-","value":{}},{"op":"move","from":"/spec","path":"/x"},{"op":"copy","from":"/x/containers/0","path":"/x/containers/-1"}]`,
		`[{"op":"test","path":"","value":{}},{"op":"remove","path":"/metadata/labels"},{"op":"replace","path":"","value":[]}]`, `[null,{"op":5}]`,
	} {
		for kind := range fuzzed {
			f.Add(uint8(kind), []byte(seed))
		}
	}
	typ := typeOf(f, "v1", "Pod")
	document := decode(f, `{"kind":"Pod","metadata":{"name":"p","finalizers":["x.y/z"],"labels":{"a":"1"}},
		"spec":{"containers":[{"name":"c","env":[{"name":"E","value":"1"}],"ports":[{"containerPort":80}]}],"tolerations":[{"key":"k"}]}}`)
	before := encode(f, document)
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		if len(data) > 4<<10 {
			return
		}
		patched, err := resources.ApplyPatch(fuzzed[int(kind)%len(fuzzed)], document, data, typ)
		if after := encode(t, document); after != before {
			t.Fatalf("the document was changed to %s", after)
		}
		var refused *api.StatusError
		if err != nil {
			if !errors.As(err, &refused) || refused.Status.Code < 400 || refused.Status.Message == "" {
				t.Fatalf("%v is not a StatusError", err)
			}
			return
		}
		encoded, err := json.Marshal(patched)
		if err != nil {
			t.Fatalf("%d bytes, %v", len(encoded), err)
		}
		again := &api.Unstructured{}
		if err := json.Unmarshal(encoded, again); err != nil {
			t.Fatalf("%s: %v", encoded, err)
		}
		if wrong := typ.Check(patched).TypeError; wrong != nil {
			t.Fatalf("%s: %v", encoded, wrong)
		}
	})
}
