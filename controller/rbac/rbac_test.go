package rbac_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/rbac"
	"orrery/internal/app/cluster"
	"orrery/restclient/restclienttest"
)

func whole() rbac.Config {
	return rbac.Config{
		Name: "orrery", Subject: rbac.ServiceAccount("kube-system", "orrery"),
		Controllers:    cluster.ControllerRights(false),
		LeaderElection: true, LeaseNamespace: "kube-system", LeaseName: "orrery", Events: true,
	}
}

// rolesOf are the roles and bindings by kind, namespace and name, in their order.
func rolesOf(manifests []rbac.Manifest) []string {
	var names []string
	for _, m := range manifests {
		names = append(names, m.Kind+" "+m.Metadata.Namespace+"/"+m.Metadata.Name)
	}
	return names
}

func TestRoles(t *testing.T) {
	everywhere := []string{"ClusterRole /orrery", "ClusterRoleBinding /orrery"}
	lease := []string{"Role kube-system/orrery-leader-election", "RoleBinding kube-system/orrery-leader-election"}
	events := []string{"Role default/orrery-events", "RoleBinding default/orrery-events"}
	for name, c := range map[string]struct {
		change func(*rbac.Config)
		want   []string
	}{
		"everything":        {func(*rbac.Config) {}, slices.Concat(everywhere, lease, events)},
		"alone":             {func(c *rbac.Config) { c.LeaderElection = false }, slices.Concat(everywhere, events)},
		"without Events":    {func(c *rbac.Config) { c.Events = false }, slices.Concat(everywhere, lease)},
		"a dry run":         {func(c *rbac.Config) { c.LeaderElection, c.Events = false, false }, everywhere},
		"the zero value":    {func(c *rbac.Config) { *c = rbac.Config{Name: "orrery"} }, nil},
		"Events everywhere": {func(c *rbac.Config) { c.EventsEverywhere = true }, slices.Concat(everywhere, lease)},
		"a Lease in default": {func(c *rbac.Config) { c.LeaseNamespace = "default" }, slices.Concat(everywhere,
			[]string{"Role default/orrery-leader-election", "RoleBinding default/orrery-leader-election"}, events)},
	} {
		t.Run(name, func(t *testing.T) {
			config := whole()
			c.change(&config)
			manifests := rbac.Manifests(config)
			assert.Equal(t, c.want, rolesOf(manifests))
			for i, m := range manifests {
				if i%2 == 0 {
					assert.NotEmpty(t, m.Rules)
					continue
				}
				assert.Equal(t, manifests[i-1].Kind, m.RoleRef.Kind)
				assert.Equal(t, manifests[i-1].Metadata.Name, m.RoleRef.Name)
				assert.Equal(t, []rbac.Subject{config.Subject}, m.Subjects)
			}
		})
	}
}

// Several controllers have one role, in which nothing stands twice.
func TestRightsOfSeveralControllers(t *testing.T) {
	pods := func(reason string, verbs ...string) rbac.Right {
		return rbac.Right{Rule: rbac.Rule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: verbs},
			Reason: reason}
	}
	several := []rbac.Right{pods("A.", "list", "watch"), pods("B.", "watch", "create"), pods("A.", "list")}
	assert.Equal(t, []rbac.Right{pods("A. B.", "list", "watch", "create")},
		rbac.Rights(rbac.Config{Controllers: several}))

	all := rbac.Rights(rbac.Config{Controllers: append(cluster.ControllerRights(false),
		append(several, pods("C.", "list"))...)})
	assert.Equal(t, append(cluster.ControllerRights(false), pods("A. B.", "watch", "create")), all,
		"what is allowed for everything is not repeated")
	assert.Equal(t, []string{"list", "watch"}, several[0].Rule.Verbs, "what was given is not changed")
}

// No right to everything, a reason for each, and the Lease by its name wherever Kubernetes can do
// that.
func TestRightsAreNarrow(t *testing.T) {
	for _, right := range rbac.Rights(whole()) {
		assert.NotEmpty(t, right.Reason)
		assert.NotContains(t, right.Rule.Verbs, "*")
		if right.Rule.Resources[0] == "leases" && !slices.Contains(right.Rule.Verbs, "create") {
			assert.Equal(t, []string{"orrery"}, right.Rule.ResourceNames)
			assert.Equal(t, []string{"get", "update", "watch"}, right.Rule.Verbs)
		}
		assert.Equal(t, right.Rule.Resources[0] == "*", right.Rule.APIGroups[0] == "*")
	}
}

// authorizer answers reviews by rules.
type authorizer struct {
	everywhere []rbac.Rule
	in         map[string][]rbac.Rule // by namespace
	unsure     bool
}

func (a *authorizer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var question struct {
		Kind string
		Spec struct {
			ResourceAttributes struct{ Namespace, Verb, Group, Resource, Subresource, Name string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&question); err != nil || question.Kind != "SelfSubjectAccessReview" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	at := question.Spec.ResourceAttributes
	resource := at.Resource
	if at.Subresource != "" {
		resource += "/" + at.Subresource
	}
	has := func(list []string, word string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, word)
	}
	status := map[string]any{}
	status["allowed"] = slices.ContainsFunc(slices.Concat(a.everywhere, a.in[at.Namespace]), func(rule rbac.Rule) bool {
		return has(rule.Verbs, at.Verb) && has(rule.APIGroups, at.Group) &&
			(has(rule.Resources, resource) || slices.Contains(rule.Resources, "*/"+at.Subresource)) &&
			(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, at.Name))
	})
	if a.unsure {
		status["evaluationError"] = "a webhook does not answer"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": question.Kind, "status": status})
}

// missing returns what is missing of all that a run needs, in words.
func missing(t *testing.T, a *authorizer) (said string) {
	t.Helper()
	client := restclienttest.NewServer(t, a).Client()
	rights, err := rbac.Missing(t.Context(), client, rbac.Rights(whole()))
	require.NoError(t, err)
	for _, right := range rights {
		said += strings.Join(right.Rule.Verbs, ",") + " " + right.Rule.Resources[0] + " " + right.Namespace + "; "
	}
	return strings.TrimSuffix(said, "; ")
}

func grant(verbs, group, resource string, names ...string) rbac.Rule {
	return rbac.Rule{Verbs: strings.Split(verbs, ","), APIGroups: []string{group}, Resources: []string{resource},
		ResourceNames: names}
}

// least grants what "orrery rbac" prints.
func least() *authorizer {
	a := &authorizer{in: map[string][]rbac.Rule{}}
	for _, right := range rbac.Rights(whole()) {
		if right.Namespace == "" {
			a.everywhere = append(a.everywhere, right.Rule)
		} else {
			a.in[right.Namespace] = append(a.in[right.Namespace], right.Rule)
		}
	}
	return a
}

// The role that "orrery rbac --dry-run" printed once took the place of the one with all rights, and
// the next run said nothing.
func TestMissingRightsAreFound(t *testing.T) {
	const namespaces, everything = 2, 3 // places of rules of the least rights
	for _, test := range []struct {
		name, want string
		change     func(a *authorizer)
	}{
		{"the least rights", "", func(*authorizer) {}},
		{"an administrator", "", func(a *authorizer) { a.everywhere = []rbac.Rule{grant("*", "*", "*")} }},
		{"a server that is not sure denies nothing", "", func(a *authorizer) { *a = authorizer{unsure: true} }},
		{"a dry run", "update namespaces/status ; update namespaces/finalize ; delete,deletecollection * ; " +
			"get,update,watch leases kube-system; create leases kube-system; create events kube-system; create,patch " +
			"events default", func(a *authorizer) {
			*a = authorizer{everywhere: []rbac.Rule{grant("get,watch", "", "namespaces"), grant("list", "*", "*")}}
		}},
		{"another subresource", "update namespaces/finalize ",
			func(a *authorizer) { a.everywhere[namespaces] = grant("update", "", "namespaces/x") }},
		{"that subresource of all", "",
			func(a *authorizer) { a.everywhere[namespaces] = grant("update", "", "*/finalize") }},
		{"one resource of all", "list,delete,deletecollection * ",
			func(a *authorizer) { a.everywhere[everything] = grant("list,delete,deletecollection", "*", "pods") }},
		{"another Lease", "get,update,watch leases kube-system", func(a *authorizer) {
			a.in["kube-system"][0] = grant("get,update,watch", "coordination.k8s.io", "leases", "another")
		}},
		{"some names are not all", "create leases kube-system", func(a *authorizer) {
			a.in["kube-system"][1] = grant("create", "coordination.k8s.io", "leases", "orrery")
		}},
		{"what holds in one namespace does not hold everywhere",
			"list,delete,deletecollection * ; create,patch events default", func(a *authorizer) {
				a.in["default"] = []rbac.Rule{}
				a.in["kube-system"] = append(a.in["kube-system"], a.everywhere[everything])
				a.everywhere = a.everywhere[:everything]
			}},
	} {
		a := least()
		test.change(a)
		assert.Equal(t, test.want, missing(t, a), test.name)
	}
}

func TestAServerWithoutReviews(t *testing.T) {
	client := restclienttest.NewServer(t, http.NotFoundHandler()).Client()
	_, err := rbac.Missing(t.Context(), client, rbac.Rights(whole()))
	assert.Error(t, err)
}
