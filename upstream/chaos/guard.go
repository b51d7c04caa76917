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

// guard looks at each request by which a subject finalizes a namespace, before the API server does, and asks the server
// itself what is in the namespace. Nothing can be created in a namespace that is being deleted; so what is there now was
// there when the subject decided that nothing is.
type guard struct {
	cluster *cluster

	mu         sync.Mutex // guards the fields below
	seen       int        // finalizations that were looked at
	violations []string
}

// finalization is the part of a request to namespaces/finalize that matters.
type finalization struct {
	Metadata struct {
		Name, UID, ResourceVersion string
	}
	Spec struct {
		Finalizers []string
	}
}

// look reads the request, if it is one, and leaves its body as it was.
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
		return // a request that was cut; the server is going to refuse it
	}
	if slices.Contains(asked.Spec.Finalizers, string(corev1.FinalizerKubernetes)) {
		return
	}
	g.check(request.Context(), asked)
}

// errorReader ends a body as it ended the first time.
type errorReader struct{ err error }

func (e errorReader) Read([]byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	return 0, io.EOF
}

// check asks the server. A server that does not answer is not going to finalize anything either. Neither does it when the
// request is about another state than the present one.
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

// found returns how many finalizations were looked at, and those that should not have been.
func (g *guard) found() (seen int, violations []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen, slices.Clone(g.violations)
}

// The types that the writers fill namespaces with, and those that every namespace has.
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
