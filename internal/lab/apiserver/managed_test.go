package apiserver_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// managers returns "manager subresource fields" for each entry of managedFields.
func (a answer) managers(t *testing.T) (found []string) {
	t.Helper()
	var object struct {
		Metadata struct {
			ManagedFields []struct {
				Manager, Operation, APIVersion, FieldsType, Subresource string
				Time                                                    time.Time
				FieldsV1                                                json.RawMessage
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &object))
	for _, e := range object.Metadata.ManagedFields {
		assert.Equal(t, "Update FieldsV1", e.Operation+" "+e.FieldsType)
		assert.False(t, e.Time.IsZero())
		found = append(found, e.Manager+" "+e.APIVersion+" "+e.Subresource+" "+string(e.FieldsV1))
	}
	return found
}

// Every write leaves its author's name at the fields that it changed.
func TestManagedFields(t *testing.T) {
	const merge = "application/merge-patch+json"
	bubble(t, func(t *testing.T, p *piped) {
		created := p.must(201, "POST", configMaps,
			`{"metadata":{"name":"a","finalizers":["a.b/c"]},"data":{"k":"v","l":"w"}}`,
			"User-Agent", "kubectl/v1.36.3 (linux)")
		const finalizer = `"f:metadata":{"f:finalizers":{"v:\"a.b/c\"":{}}}`
		assert.Equal(t, []string{`kubectl v1  {"f:data":{"f:k":{},"f:l":{}},` + finalizer + `}`}, created.managers(t))
		time.Sleep(time.Second)
		patched := p.must(200, "PATCH", configMaps+"/a?fieldManager=robot", `{"data":{"k":"2","l":null}}`,
			"Content-Type", merge)
		two := []string{`kubectl v1  {` + finalizer + `}`, `robot v1  {"f:data":{"f:k":{}}}`}
		assert.Equal(t, two, patched.managers(t), "the changed field has a new owner, and the removed one has none")

		time.Sleep(time.Second)
		same := p.must(200, "PATCH", configMaps+"/a?fieldManager=robot", `{"data":{"k":"2"}}`, "Content-Type", merge)
		assert.Equal(t, patched.body, same.body,
			"a write that changes nothing leaves the times alone, and takes no version")
		put := p.must(200, "PUT", configMaps+"/a", `{"metadata":{"name":"a","finalizers":["a.b/c"]},"data":{"k":"2"}}`)
		assert.Equal(t, two, put.managers(t), "a client that does not know managedFields does not remove them")
		for _, name := range []string{"b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
			time.Sleep(time.Second)
			p.must(200, "PATCH", configMaps+"/a?fieldManager="+name, `{"data":{"`+name+`":"1"}}`, "Content-Type", merge)
		}
		found := p.must(200, "GET", configMaps+"/a", "").managers(t)
		require.Len(t, found, 10, "the oldest entries go")
		assert.Equal(t, `c v1  {"f:data":{"f:c":{}}}`, found[0])
	})
}
