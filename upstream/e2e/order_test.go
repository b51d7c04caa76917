package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

// departures records when objects left a namespace, as the resource version of the deletion.
// Versions of different types are comparable because they count the revisions of one etcd.
type departures struct {
	mu       sync.Mutex // guards versions
	versions map[string]uint64
}

// watchDepartures records until the test ends.
func (tr *trial) watchDepartures(namespace string, resources ...schema.GroupVersionResource) *departures {
	tr.t.Helper()
	d := &departures{versions: map[string]uint64{}}
	ctx, cancel := context.WithCancel(tr.ctx)
	var following sync.WaitGroup
	tr.t.Cleanup(func() {
		cancel()
		following.Wait()
	})
	for _, resource := range resources {
		client := tr.dynamic.Resource(resource).Namespace(namespace)
		list, err := client.List(ctx, metav1.ListOptions{})
		require.NoError(tr.t, err)
		events, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
		require.NoError(tr.t, err)
		following.Go(func() {
			defer events.Stop()
			for event := range events.ResultChan() {
				d.record(resource, event)
			}
		})
	}
	return d
}

func (d *departures) record(resource schema.GroupVersionResource, event watch.Event) {
	object, ok := event.Object.(*unstructured.Unstructured)
	if event.Type != watch.Deleted || !ok {
		return
	}
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return // the object never leaves, and the waiting test fails
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.versions[resource.Resource+"/"+object.GetName()] = version
}

// of returns the version at which an object ("pods/first") left; 0 while it exists.
func (d *departures) of(object string) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.versions[object]
}

// noteOrder waits until both objects have left and records which was first.
func (tr *trial) noteOrder(d *departures, first, second string) {
	tr.t.Helper()
	tr.eventually(first+" and "+second+" have left", func() (bool, error) {
		return d.of(first) != 0 && d.of(second) != 0, nil
	})
	answer := "yes"
	if d.of(first) > d.of(second) {
		answer = "no"
	}
	tr.state.note(first+" left before "+second, answer)
}

// policyManifest is a policy that denies the deletion of one object. It has the name of the
// namespace.
const policyManifest = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    resourceRules:
    - {operations: [DELETE], apiGroups: ["%[2]s"], apiVersions: [%[3]s], resources: [%[4]s]}
  validations:
  - {expression: 'oldObject.metadata.name != "%[5]s"', message: %[5]s stays}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`

// forbidDeletion makes the server deny the deletion of one existing object, and waits until the
// policy is in force.
func (tr *trial) forbidDeletion(resource schema.GroupVersionResource, namespace, name string) (lift func()) {
	tr.t.Helper()
	policy := fmt.Sprintf(policyManifest, namespace, resource.Group, resource.Version, resource.Resource, name)
	tr.kubectl("create -f -\n" + policy)
	tr.eventually("the policy is in force", func() (bool, error) {
		return apierrors.IsInvalid(tr.tryDelete(resource, namespace, name)), nil
	})
	return func() { tr.kubectl("delete -f -\n" + policy) }
}

// tryDelete deletes an object in a dry run, which asks policies and webhooks.
func (tr *trial) tryDelete(resource schema.GroupVersionResource, namespace, name string) error {
	dry := metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
	return tr.dynamic.Resource(resource).Namespace(namespace).Delete(tr.ctx, name, dry)
}

// webhookManifest is a required webhook that is asked before the deletion of objects of a type in
// one namespace.
const webhookManifest = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
- name: nobody.example.com
  clientConfig: %[5]s
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
  rules: [{operations: [DELETE], apiGroups: ["%[2]s"], apiVersions: [%[3]s], resources: [%[4]s]}]
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 30
  admissionReviewVersions: [v1]
`

// webhook configures a webhook, named after the namespace.
func (tr *trial) webhook(
	resource schema.GroupVersionResource, namespace string, at admissionv1.WebhookClientConfig,
) (remove func()) {
	tr.t.Helper()
	client, err := json.Marshal(at)
	require.NoError(tr.t, err)
	tr.kubectl("create -f -\n" +
		fmt.Sprintf(webhookManifest, namespace, resource.Group, resource.Version, resource.Resource, client))
	return func() {
		tr.t.Helper()
		webhooks := tr.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
		err := webhooks.Delete(context.WithoutCancel(tr.ctx), namespace, metav1.DeleteOptions{})
		require.NoError(tr.t, err)
	}
}

// unreachableWebhook configures a webhook at an address where nothing listens: a process needs
// special rights to listen on this port.
func (tr *trial) unreachableWebhook(resource schema.GroupVersionResource, namespace string) (lift func()) {
	tr.t.Helper()
	return tr.failingWebhook(resource, namespace, admissionv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:9/")})
}

// failingWebhook configures a webhook that cannot be called, and waits until it is in force.
func (tr *trial) failingWebhook(
	resource schema.GroupVersionResource, namespace string, at admissionv1.WebhookClientConfig,
) (lift func()) {
	tr.t.Helper()
	lift = tr.webhook(resource, namespace, at)
	tr.eventually("the webhook would be asked", func() (bool, error) {
		return apierrors.IsInternalError(tr.tryDelete(resource, namespace, "kube-root-ca.crt")), nil
	})
	return lift
}
