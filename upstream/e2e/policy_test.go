package e2e

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

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
