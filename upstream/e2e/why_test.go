package e2e

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"orrery/internal/why"
	"orrery/upstream/controlplane"
)

// whyTrial is a genuine control plane on which "orrery why" looks at namespaces that hang, as a user
// with the rights that "orrery rbac --for why" prints.
type whyTrial struct {
	*trial
	cp   *controlplane.ControlPlane
	user string // the kubeconfig file of that user
	keys string // the file with kube-apiserver's key for PodTemplates
}

// situation makes a namespace hang for one cause.
type situation struct {
	id string
	// setUp returns the object that the report must name.
	setUp func(w *whyTrial, namespace string) (culprit why.Reference)
	// also are the causes that the situation proves beside it.
	also []string
	// miss: it looks alike, and is not that cause.
	miss bool
	// absence: an owner is not in the cluster, which is never proven.
	absence bool
}

// TestWhy sets up, on genuine control planes, the causes that the server in memory only imitates in
// part. Each is proven, with the right culprit, and no other cause is. A cause that needs an API
// server with other flags, or a controller that stops, has a control plane of its own.
func TestWhy(t *testing.T) {
	t.Parallel()
	var ids []string
	for _, s := range slices.Concat(contentSituations(), clusterSituations(), controllerSituations(), []situation{keySituation()}) {
		if !s.miss {
			ids = append(ids, s.id)
		}
	}
	slices.Sort(ids)
	require.Equal(t, why.Genuine(), ids)
	t.Run("content", func(t *testing.T) {
		t.Parallel()
		keys := filepath.Join(t.TempDir(), "encryption.json")
		encryption(t, keys, "old")
		w := newWhyTrial(t, controlplane.Config{
			FakeNodes: 1, NamespaceController: true, Controllers: managedControllers,
			APIServerArgs:         []string{"--encryption-provider-config=" + keys},
			ControllerManagerArgs: append([]string{"--node-monitor-grace-period=20s"}, alive...),
		})
		w.keys = keys
		w.playStaticPod()
		w.prove(contentSituations()...)
		w.proveTogether(clusterSituations()...)
		w.proveTogether(keySituation()) // it restarts kube-apiserver, after which the controllers take a minute
	})
	t.Run("controllers", func(t *testing.T) {
		t.Parallel()
		w := newWhyTrial(t, controlplane.Config{
			NamespaceController: true, APIServerArgs: []string{"--disable-admission-plugins=NamespaceLifecycle"}, ControllerManagerArgs: alive,
		})
		for _, s := range controllerSituations() {
			w.prove(s)
		}
	})
}

func newWhyTrial(t *testing.T, config controlplane.Config) *whyTrial {
	t.Helper()
	reserveCluster(t)
	config.Log = t.Output()
	cp, err := controlplane.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cp.Stop()) })
	w := &whyTrial{trial: newTrial(t, &Cluster{Server: cp, subject: Orrery()}, endState{}), cp: cp}
	w.user = w.admit("why")
	return w
}

// admit returns the kubeconfig file of a new user with the rights of "orrery rbac --for why" and
// further arguments.
func (w *whyTrial) admit(user string, args ...string) (kubeconfig string) {
	w.t.Helper()
	orrery := repositoryFile(w.t, filepath.Join("bin", "orrery"))
	roles, err := exec.CommandContext(w.ctx, orrery, append([]string{"rbac", "--for=why", "--user=" + user}, args...)...).Output()
	require.NoError(w.t, err)
	return w.admitBy(user, string(roles), "list", "pods")
}

// admitBy creates roles and their bindings for a new user, and waits until the API server knows that
// the user has one of the rights.
func (w *whyTrial) admitBy(user, roles, verb, resource string) (kubeconfig string) {
	w.t.Helper()
	kubeconfig, err := w.cp.KubeconfigFor(user)
	require.NoError(w.t, err)
	w.apply(roles)
	question := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Resource: resource},
	}}
	w.eventually("the API server knows of the rights", func() (bool, error) {
		answer, err := w.client.AuthorizationV1().SubjectAccessReviews().Create(w.ctx, question, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed, err
	})
	return kubeconfig
}

// apply applies manifests, as a user does.
func (w *whyTrial) apply(manifests string) {
	w.t.Helper()
	kubectl := exec.CommandContext(w.ctx, repositoryFile(w.t, filepath.Join("bin", "kubectl")), "--kubeconfig", w.cp.Kubeconfig(), "apply", "-f", "-")
	kubectl.Stdin = strings.NewReader(manifests)
	said, err := kubectl.CombinedOutput()
	require.NoError(w.t, err, "%s", said)
}

// post sends a JSON document to a path.
func (w *whyTrial) post(path, document string) {
	w.t.Helper()
	require.NoError(w.t, w.send(http.MethodPost, path, document))
}

// patch is a JSON merge patch.
func (w *whyTrial) patch(path, document string) {
	w.t.Helper()
	require.NoError(w.t, w.send(http.MethodPatch, path, document))
}

func (w *whyTrial) send(method, path, document string) error {
	content := "application/json"
	if method == http.MethodPatch {
		content = "application/merge-patch+json"
	}
	return w.client.Discovery().RESTClient().Verb(method).AbsPath(path).SetHeader("Content-Type", content).Body([]byte(document)).Do(w.ctx).Error()
}

// inTest returns the trial for a subtest.
func (w *whyTrial) inTest(t *testing.T) *whyTrial {
	of := *w.trial
	of.t, of.ctx = t, t.Context()
	return &whyTrial{trial: &of, cp: w.cp, user: w.user, keys: w.keys}
}

// prove sets situations up, each in its namespace, and lets "orrery why" judge them, in parallel.
func (w *whyTrial) prove(situations ...situation) {
	w.t.Run("each", func(t *testing.T) {
		for _, s := range situations {
			t.Run(s.name(), func(t *testing.T) {
				t.Parallel()
				of := w.inTest(t)
				of.judge(s, s.setUp(of, s.namespace()))
			})
		}
	})
}

// proveTogether sets up situations that act on the whole cluster one after the other, and then
// judges them in parallel.
func (w *whyTrial) proveTogether(situations ...situation) {
	culprits := make([]why.Reference, len(situations))
	for i, s := range situations {
		culprits[i] = s.setUp(w, s.namespace())
	}
	w.t.Run("together", func(t *testing.T) {
		for i, s := range situations {
			t.Run(s.name(), func(t *testing.T) {
				t.Parallel()
				w.inTest(t).judge(s, culprits[i])
			})
		}
	})
}

func (s situation) name() string {
	if s.miss {
		return s.id + "-near-miss"
	}
	return s.id
}

// namespace is the name of the situation's namespace.
func (s situation) namespace() string { return strings.ToLower(s.name()) }

// judge runs "orrery why" until the cause is proven: the server needs some time for its conditions.
// Nothing else may be proven at any time.
func (w *whyTrial) judge(s situation, culprit why.Reference) {
	w.t.Helper()
	if s.miss {
		w.awaitConditions(s.namespace())
		report := diagnose(w.t, w.user, s.namespace())
		assert.False(w.t, slices.ContainsFunc(report.Findings, func(f why.Finding) bool { return f.ID == s.id }), text(w.t, report))
		return
	}
	user := w.user
	if s.id == "C30" {
		user = w.admit("less", "--without=secrets")
	}
	eventually(w.t, s.id+" is proven", w.cp.Failed(), func() (bool, error) {
		report := diagnose(w.t, user, s.namespace())
		found := false
		for _, f := range report.Findings {
			cause, _ := why.Lookup(f.ID)
			switch {
			case f.ID == s.id && f.Culprit == culprit && (f.Certainty == why.Proven) == !s.absence:
				found = true
			case f.Certainty != why.Proven:
			case cause.Waits: // the first pass came between the samples
			case f.ID == "C09" && f.Culprit.Name == convertedThings: // broken beside it, it blocks every namespace while the watch cache cannot start
			default:
				require.Contains(w.t, s.also, f.ID, "%s is named as well\n%s", f.ID, text(w.t, report))
			}
		}
		if !found {
			return false, errors.New(text(w.t, report))
		}
		w.t.Log("\n" + text(w.t, report))
		return true, nil
	})
}

// diagnose runs "orrery why" as the user of a kubeconfig file.
func diagnose(t *testing.T, kubeconfig, namespace string) why.Report {
	t.Helper()
	orrery := repositoryFile(t, filepath.Join("bin", "orrery"))
	command := exec.CommandContext(t.Context(), orrery, "why", namespace, "--kubeconfig", kubeconfig, "-o", "json")
	var said strings.Builder
	command.Stderr = &said
	out, err := command.Output()
	if _, exited := errors.AsType[*exec.ExitError](err); !exited {
		require.NoError(t, err)
	}
	var report why.Report
	require.NoError(t, json.Unmarshal(out, &report), "%s%s", said.String(), out)
	assert.Equal(t, report.ExitCode, command.ProcessState.ExitCode())
	return report
}

func text(t *testing.T, report why.Report) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, report.WriteText(&out, true, 0))
	return out.String()
}

// definition creates a custom type with one version of each of these names, the first of which is
// stored, and waits until objects can be created.
func (w *whyTrial) definition(group, plural, kind string, versions ...string) {
	w.t.Helper()
	var entries []string
	for i, version := range versions {
		entries = append(entries, fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":
			{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`, version, i == 0))
	}
	w.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", fmt.Sprintf(`{"metadata":{"name":"%s.%s"},"spec":{"group":%q,"scope":"Namespaced",
		"names":{"plural":%q,"kind":%q},"versions":[%s]}}`, plural, group, group, plural, kind, strings.Join(entries, ",")))
	w.eventually("the type "+plural+" is served", func() (bool, error) {
		lists, err := w.client.Discovery().ServerPreferredNamespacedResources()
		return slices.ContainsFunc(lists, func(list *metav1.APIResourceList) bool { return strings.HasPrefix(list.GroupVersion, group+"/") }), err
	})
}

// custom creates an object of a custom type as soon as the server takes it.
func (w *whyTrial) custom(path, groupVersion, kind, name string, finalizers ...string) {
	w.t.Helper()
	list, err := json.Marshal(finalizers)
	require.NoError(w.t, err)
	w.eventually(name+" is created", func() (bool, error) {
		err := w.send(http.MethodPost, "/apis/"+groupVersion+path, fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"finalizers":%s}}`, groupVersion, kind, name, list))
		return err == nil, err
	})
}

// deployment runs a program as a service account, and waits until its pod is ready.
func (w *whyTrial) deployment(namespace, name, account string) {
	w.t.Helper()
	w.post("/api/v1/namespaces/"+namespace+"/serviceaccounts", fmt.Sprintf(`{"metadata":{"name":%q}}`, account))
	w.post("/apis/apps/v1/namespaces/"+namespace+"/deployments", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"selector":{"matchLabels":{"app":%q}},"template":
		{"metadata":{"labels":{"app":%q}},"spec":{"serviceAccountName":%q,"containers":[{"name":"main","image":"example.com/pretended"}]}}}}`, name, name, name, account))
	w.eventually("deployment "+name+" is ready", func() (bool, error) {
		deployment, err := w.client.AppsV1().Deployments(namespace).Get(w.ctx, name, metav1.GetOptions{})
		return err == nil && deployment.Status.ReadyReplicas == 1, err
	})
}

// encryption writes kube-apiserver's configuration for the encryption of PodTemplates, with a key of
// this name, which has three letters. Without its Secrets kube-apiserver itself never gets ready.
func encryption(t *testing.T, path, key string) {
	t.Helper()
	secret := base64.StdEncoding.EncodeToString([]byte(key + "-key-of-exactly-32-bytes-long"))
	configuration := fmt.Sprintf(`{"apiVersion":"apiserver.config.k8s.io/v1","kind":"EncryptionConfiguration",
		"resources":[{"resources":["podtemplates"],"providers":[{"secretbox":{"keys":[{"name":%q,"secret":%q}]}}]}]}`, key, secret)
	require.NoError(t, os.WriteFile(path, []byte(configuration), 0o600))
}
