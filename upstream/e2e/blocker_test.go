package e2e

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionreviewv1 "k8s.io/api/admission/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// webhookBlocker is an admission webhook that allows every deletion; while active, it does not
// answer. The API server waits for 30 seconds.
type webhookBlocker struct {
	*barrier
	server *httptest.Server
}

// blockerBefore configures the webhook. It is in force when it receives a trial deletion of
// the probe.
func (genuineHindrances) blockerBefore(tr *trial, namespace, probe string) blocker {
	tr.t.Helper()
	t, client := tr.t, tr.client
	g := &webhookBlocker{barrier: newBarrier(tr)}
	asked := make(chan struct{}, 1)
	g.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		offer(asked)
		g.answer(w, r)
	}))
	t.Cleanup(func() {
		g.Release()
		g.server.Close()
	})
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.server.Certificate().Raw})
	config := &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "blocker-" + namespace},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name:                    "blocker.example.com",
			ClientConfig:            admissionv1.WebhookClientConfig{URL: ptr.To(g.server.URL), CABundle: certificate},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}},
			Rules:                   []admissionv1.RuleWithOperations{deletionsOfConfigMaps()},
			SideEffects:             ptr.To(admissionv1.SideEffectClassNone),
			FailurePolicy:           ptr.To(admissionv1.Fail),
			TimeoutSeconds:          ptr.To[int32](30),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
	webhooks := client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err := webhooks.Create(t.Context(), config, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		err := webhooks.Delete(context.WithoutCancel(t.Context()), config.Name, metav1.DeleteOptions{})
		assert.NoError(t, err, "without its server the blocker would stay active for the next test on the cluster")
	})
	tr.eventually("the blocker is in force", func() (bool, error) {
		err := client.CoreV1().ConfigMaps(namespace).Delete(t.Context(), probe, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		select {
		case <-asked:
			return err == nil, err
		default:
			return false, err
		}
	})
	return g
}

func deletionsOfConfigMaps() admissionv1.RuleWithOperations {
	return admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Delete},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}
}

// answer allows the request once the blocker is released.
func (g *webhookBlocker) answer(w http.ResponseWriter, r *http.Request) {
	var review admissionreviewv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "not an admission review", http.StatusBadRequest)
		return
	}
	// Reading to the end lets the server notice that the caller has gone.
	_, _ = io.Copy(io.Discard, r.Body)
	if g.pass(r.Context()) != nil {
		return
	}
	review.Response = &admissionreviewv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // a caller that has gone needs no answer
}
