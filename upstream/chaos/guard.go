package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// guard checks each request that finalizes a namespace, before the API server gets it, by listing
// the namespace's content. A terminating namespace accepts no new content, so what is listed
// existed when the subject decided.
type guard struct {
	cluster *cluster

	mu         sync.Mutex // guards the fields below
	seen       int        // checked finalizations
	violations []string
}

// finalization is the relevant part of a request to namespaces/finalize.
type finalization struct {
	Metadata struct {
		Name, UID, ResourceVersion string
	}
	Spec struct {
		Finalizers []string
	}
}

// look checks a finalization, and restores the request's body.
func (g *guard) look(request *http.Request) {
	if request.Method != http.MethodPut || !strings.HasPrefix(request.URL.Path, "/api/v1/namespaces/") || !strings.HasSuffix(request.URL.Path, "/finalize") {
		return
	}
	body, err := io.ReadAll(request.Body)
	request.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), errorReader{err}), request.Body}
	var asked finalization
	if err != nil || json.Unmarshal(body, &asked) != nil {
		return // a truncated request; the server will refuse it
	}
	if slices.Contains(asked.Spec.Finalizers, string(corev1.FinalizerKubernetes)) {
		return
	}
	g.check(request.Context(), asked)
}

// errorReader repeats a body's error.
type errorReader struct{ err error }

func (e errorReader) Read([]byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	return 0, io.EOF
}

// check lists the content. It reports nothing if the server does not answer, or if the request is
// about an old state, since the server then does not finalize either.
func (g *guard) check(ctx context.Context, asked finalization) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	now, err := g.cluster.client.Resource(namespaces).Get(ctx, asked.Metadata.Name, metav1.GetOptions{})
	if err != nil || string(now.GetUID()) != asked.Metadata.UID || now.GetResourceVersion() != asked.Metadata.ResourceVersion {
		return
	}
	left, err := g.cluster.content(ctx, asked.Metadata.Name)
	if err != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen++
	if len(left) > 0 {
		g.violations = append(g.violations, fmt.Sprintf("%s: namespace %s (uid %s) is finalized with content: %s",
			time.Now().Format(clock), asked.Metadata.Name, asked.Metadata.UID, strings.Join(left, ", ")))
	}
}

// found returns the number of finalizations, and the wrong ones.
func (g *guard) found() (seen int, violations []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen, slices.Clone(g.violations)
}

// The types of the writers' content, and of the default content.
var (
	namespaces      = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	configMaps      = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets         = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	pods            = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	widgets         = schema.GroupVersionResource{Group: "chaos.example.org", Version: "v1", Resource: "widgets"}
	gears           = schema.GroupVersionResource{Group: "chaos.example.org", Version: "v1", Resource: "gears"}
	definitions     = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	roleBindings    = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"}
	clusterRoles    = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}
)

var contentTypes = []schema.GroupVersionResource{pods, configMaps, secrets, serviceAccounts, widgets, gears}
