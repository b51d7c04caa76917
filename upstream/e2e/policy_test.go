package e2e

import (
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// forbidDeletion creates a policy and waits until it is in force. Policy and binding are named
// after the namespace.
func (genuineHindrances) forbidDeletion(tr *trial, resource schema.GroupVersionResource, namespace, name string) (lift func()) {
	tr.t.Helper()
	everything := admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}},
			ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Delete},
					Rule: admissionv1.Rule{
						APIGroups:   []string{resource.Group},
						APIVersions: []string{resource.Version},
						Resources:   []string{resource.Resource},
					},
				},
			}},
		},
		Validations: []admissionv1.Validation{{
			Expression: `oldObject.metadata.name != "` + name + `"`,
			Message:    name + " stays",
		}},
	}
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: namespace}, Spec: everything}
	_, err := tr.client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(tr.ctx, policy, metav1.CreateOptions{})
	require.NoError(tr.t, err)
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        namespace,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
	_, err = tr.client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(tr.ctx, binding, metav1.CreateOptions{})
	require.NoError(tr.t, err)
	tr.eventually("the policy is in force", func() (bool, error) {
		err := tr.dynamic.Resource(resource).Namespace(namespace).
			Delete(tr.ctx, name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		if apierrors.ReasonForError(err) == metav1.StatusReasonInvalid {
			return true, nil
		}
		return false, err
	})
	return func() {
		tr.t.Helper()
		admission := tr.client.AdmissionregistrationV1()
		require.NoError(tr.t, admission.ValidatingAdmissionPolicyBindings().Delete(tr.ctx, namespace, metav1.DeleteOptions{}))
		require.NoError(tr.t, admission.ValidatingAdmissionPolicies().Delete(tr.ctx, namespace, metav1.DeleteOptions{}))
	}
}

// unreachableWebhook configures a webhook at an address where nothing listens: a process needs
// special rights to listen on this port.
func (genuineHindrances) unreachableWebhook(tr *trial, resource schema.GroupVersionResource, namespace string) (lift func()) {
	tr.t.Helper()
	return tr.failingWebhook(resource, namespace, admissionv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:9/")})
}

// failingWebhook configures a webhook that cannot be called, and waits until it is in force. Its
// configuration is named after the namespace.
func (tr *trial) failingWebhook(
	resource schema.GroupVersionResource, namespace string, at admissionv1.WebhookClientConfig,
) (lift func()) {
	tr.t.Helper()
	config := &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name:              "nobody.example.com",
			ClientConfig:      at,
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Delete},
				Rule: admissionv1.Rule{
					APIGroups:   []string{resource.Group},
					APIVersions: []string{resource.Version},
					Resources:   []string{resource.Resource},
				},
			}},
			SideEffects:             ptr.To(admissionv1.SideEffectClassNone),
			FailurePolicy:           ptr.To(admissionv1.Fail),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
	webhooks := tr.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err := webhooks.Create(tr.ctx, config, metav1.CreateOptions{})
	require.NoError(tr.t, err)
	tr.eventually("the webhook would be asked", func() (bool, error) {
		err := tr.dynamic.Resource(resource).Namespace(namespace).
			Delete(tr.ctx, "kube-root-ca.crt", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		if apierrors.IsInternalError(err) {
			return true, nil
		}
		return false, err
	})
	return func() {
		tr.t.Helper()
		require.NoError(tr.t, webhooks.Delete(tr.ctx, namespace, metav1.DeleteOptions{}))
	}
}
