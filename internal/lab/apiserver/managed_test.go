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
		created := p.must(201, "POST", configMaps, `{"metadata":{"name":"a","labels":{"app":"x"}},"data":{"k":"v","l":"w"}}`,
			"User-Agent", "kubectl/v1.36.3 (linux)")
		assert.Equal(t, []string{
			`kubectl v1  {"f:data":{".":{},"f:k":{},"f:l":{}},"f:metadata":{"f:labels":{".":{},"f:app":{}}}}`,
		}, created.managers(t))
		time.Sleep(time.Second)
		patched := p.must(200, "PATCH", configMaps+"/a?fieldManager=robot", `{"data":{"k":"2","l":null}}`, "Content-Type", merge)
		two := []string{
			`kubectl v1  {"f:data":{},"f:metadata":{"f:labels":{".":{},"f:app":{}}}}`,
			`robot v1  {"f:data":{"f:k":{}}}`,
		}
		assert.Equal(t, two, patched.managers(t))

		// A write that changes nothing leaves the times alone, and takes no version.
		time.Sleep(time.Second)
		assert.Equal(t, patched.body, p.must(200, "PATCH", configMaps+"/a?fieldManager=robot", `{"data":{"k":"2"}}`, "Content-Type", merge).body)
		// A client that does not know managedFields does not remove them.
		put := p.must(200, "PUT", configMaps+"/a?fieldManager=robot", `{"metadata":{"name":"a","labels":{"app":"x"}},"data":{"k":"2"}}`)
		assert.Equal(t, two, put.managers(t))
		// A list with an empty entry does, and nothing is tracked from then on.
		reset := p.must(200, "PATCH", configMaps+"/a", `{"metadata":{"managedFields":[{}]}}`, "Content-Type", merge)
		assert.Empty(t, reset.managers(t))
		assert.Empty(t, p.must(200, "PATCH", configMaps+"/a", `{"data":{"k":"3"}}`, "Content-Type", merge).managers(t))
	})
}

// Lists with keys are owned element by element, other lists as a whole, and the status by its own
// writers.
func TestManagedFieldsOfADeployment(t *testing.T) {
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	bubble(t, func(t *testing.T, p *piped) {
		created := p.must(201, "POST", deployments+"?fieldManager=kubectl-create", `{"metadata":{"name":"web","labels":{"app":"web"}},"spec":{
			"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
			"spec":{"containers":[{"name":"nginx","image":"nginx","ports":[{"containerPort":80}],"args":["a"]}]}}}}`)
		const want = `kubectl-create apps/v1  {"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:progressDeadlineSeconds":{},` +
			`"f:replicas":{},"f:revisionHistoryLimit":{},"f:selector":{},"f:strategy":{"f:rollingUpdate":{".":{},"f:maxSurge":{},` +
			`"f:maxUnavailable":{}},"f:type":{}},"f:template":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":` +
			`{"k:{\"name\":\"nginx\"}":{".":{},"f:args":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:ports":{".":{},` +
			`"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:protocol":{}}},"f:resources":{},` +
			`"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},` +
			`"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}}}`
		assert.Equal(t, []string{want}, created.managers(t))
		time.Sleep(time.Second)
		status := p.must(200, "PATCH", deployments+"/web/status?fieldManager=controller",
			`{"spec":{"replicas":7},"status":{"replicas":1,"conditions":[{"type":"Available","status":"True"}]}}`,
			"Content-Type", "application/strategic-merge-patch+json")
		assert.Equal(t, []string{want, `controller apps/v1 status {"f:status":{"f:conditions":{".":{},"k:{\"type\":\"Available\"}":{".":{},` +
			`"f:lastTransitionTime":{},"f:lastUpdateTime":{},"f:status":{},"f:type":{}}},"f:replicas":{}}}`}, status.managers(t))
	})
}

// No more than ten managers are kept.
func TestManagedFieldsAreLimited(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.configMap("a")
		for _, name := range []string{"b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
			time.Sleep(time.Second)
			p.must(200, "PATCH", configMaps+"/a?fieldManager="+name, `{"data":{"`+name+`":"1"}}`, "Content-Type", "application/merge-patch+json")
		}
		found := p.must(200, "GET", configMaps+"/a", "").managers(t)
		require.Len(t, found, 10)
		assert.Equal(t, `ancient-changes v1  {"f:data":{".":{},"f:b":{},"f:c":{}}}`, found[0])
	})
}
