package e2e

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// relics is an aggregated API server of one type without deletecollection, as some servers have.
type relics struct {
	name      string // of its group, before ".example.com", and of the Service in front of it
	namespace string // of the Service
	keeps     bool   // it refuses the verb delete, which its discovery promises
	hides     bool   // it does not answer to requests for /apis

	server *httptest.Server

	mu sync.Mutex
	in map[string]map[string]bool // guarded by mu; names by namespace
}

// serve starts the server, registers it with the cluster and, unless it hides, waits until its type
// is discovered. By default its Service is in kube-system.
func (tr *trial) serve(r *relics) *relics {
	tr.t.Helper()
	r.in = map[string]map[string]bool{}
	r.namespace = cmp.Or(r.namespace, "kube-system")
	r.server = httptest.NewTLSServer(r)
	tr.t.Cleanup(r.server.Close)
	place, err := url.Parse(r.server.URL)
	require.NoError(tr.t, err)
	port, err := strconv.Atoi(place.Port())
	require.NoError(tr.t, err)

	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: r.name},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}
	_, err = tr.client.CoreV1().Services(r.namespace).Create(tr.ctx, service, metav1.CreateOptions{})
	require.NoError(tr.t, err)
	tr.createAPIService(r.version(), map[string]any{"namespace": r.namespace, "name": r.name, "port": int64(port)})
	if !r.hides {
		tr.awaitCustomType(r.version().WithResource("relics"))
	}
	return r
}

// version is the group version of the type.
func (r *relics) version() schema.GroupVersion {
	return schema.GroupVersion{Group: r.name + ".example.com", Version: "v1"}
}

// apiService is the name of the APIService.
func (r *relics) apiService() string { return r.version().Version + "." + r.version().Group }

// put creates a relic.
func (r *relics) put(namespace, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.in[namespace] == nil {
		r.in[namespace] = map[string]bool{}
	}
	r.in[namespace][name] = true
}

// left returns the number of relics in a namespace.
func (r *relics) left(namespace string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.in[namespace])
}

func (r *relics) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	root := "/apis/" + r.version().String()
	// namespaces/{namespace}/relics/{name}
	path := strings.Split(strings.Trim(strings.TrimPrefix(request.URL.Path, root), "/"), "/")
	switch {
	case request.URL.Path == "/apis" && r.hides:
		http.Error(w, "starting", http.StatusServiceUnavailable)
	case request.URL.Path == root:
		answer(w, http.StatusOK, metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: r.version().String(),
			APIResources: []metav1.APIResource{{Name: "relics", SingularName: "relic", Namespaced: true, Kind: "Relic",
				Verbs: metav1.Verbs{"list", "delete"}}},
		})
	case request.Method == http.MethodGet && (len(path) == 3 || len(path) == 1 && path[0] == "relics"):
		answer(w, http.StatusOK, r.list(path))
	case request.Method == http.MethodDelete && len(path) == 4 && !r.keeps:
		r.mu.Lock()
		delete(r.in[path[1]], path[3])
		r.mu.Unlock()
		answer(w, http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status: metav1.StatusSuccess})
	case len(path) == 3 || r.keeps && len(path) == 4:
		answer(w, http.StatusMethodNotAllowed, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status",
			APIVersion: "v1"},
			Status: metav1.StatusFailure, Reason: metav1.StatusReasonMethodNotAllowed,
			Code: http.StatusMethodNotAllowed})
	default:
		http.NotFound(w, request)
	}
}

// list returns the relics of the namespace in a path, or all.
func (r *relics) list(path []string) map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	items := []any{}
	for namespace, names := range r.in {
		if len(path) == 3 && path[1] != namespace {
			continue
		}
		for name := range names {
			items = append(items, map[string]any{
				"apiVersion": r.version().String(), "kind": "Relic",
				"metadata": map[string]any{"namespace": namespace, "name": name, "uid": namespace + "/" + name,
					"resourceVersion": "1"},
			})
		}
	}
	return map[string]any{"apiVersion": r.version().String(), "kind": "RelicList",
		"metadata": map[string]any{"resourceVersion": "1"}, "items": items}
}

func answer(w http.ResponseWriter, code int, document any) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(document)
}
