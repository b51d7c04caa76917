package e2e

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync"

	admissionreviewv1 "k8s.io/api/admission/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/ptr"
)

// blocker is an admission webhook that holds up the deletions of ConfigMaps in one namespace for up
// to 30 seconds, so that a test can stop a subject in the middle of its work. Then it allows them.
type blocker struct {
	tr *trial
	// reached receives a value when a deletion is held up.
	reached  chan struct{}
	released chan struct{} // closed by Release
	once     sync.Once
}

// block configures the webhook and waits until it is in force: until it holds up a deletion of the
// ConfigMap probe in a dry run, which it then lets pass.
func (tr *trial) block(namespace, probe string) *blocker {
	tr.t.Helper()
	b := &blocker{tr: tr, reached: make(chan struct{}, 1), released: make(chan struct{})}
	asked := make(chan struct{}, 1)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.answer(w, r, asked)
	}))
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	remove := tr.webhook(configMaps, namespace, admissionv1.WebhookClientConfig{
		URL: ptr.To(server.URL), CABundle: certificate,
	})
	tr.t.Cleanup(func() {
		b.Release()
		remove() // without its server it would hold up the next test on the cluster
		server.Close()
	})
	tr.eventually("the blocker is in force", func() (bool, error) {
		err := tr.tryDelete(configMaps, namespace, probe)
		select {
		case <-asked:
			return err == nil, err
		default:
			return false, err
		}
	})
	return b
}

// answer allows dry runs at once and everything else when the blocker is released.
func (b *blocker) answer(w http.ResponseWriter, r *http.Request, asked chan struct{}) {
	var review admissionreviewv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "not an admission review", http.StatusBadRequest)
		return
	}
	if ptr.Deref(review.Request.DryRun, false) {
		offer(asked)
	} else {
		offer(b.reached)
		select {
		case <-b.released:
		case <-r.Context().Done():
			return
		}
	}
	review.Response = &admissionreviewv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // a caller that has gone needs no answer
}

// Release lets the waiting deletions and all later ones pass.
func (b *blocker) Release() { b.once.Do(func() { close(b.released) }) }

// AwaitReached blocks until a deletion is held up.
func (b *blocker) AwaitReached() {
	b.tr.t.Helper()
	b.tr.eventually("a deletion waits at the blocker", func() (bool, error) { return len(b.reached) > 0, nil })
}

// offer sends a value to a channel of capacity one unless it is full.
func offer(channel chan struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}
