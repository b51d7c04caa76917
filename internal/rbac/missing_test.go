package rbac_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/rbac"
	"orrery/restclient/restclienttest"
)

// authorizer answers reviews by rules, which it does not list if it is a webhook.
type authorizer struct {
	everywhere []rbac.Rule
	in         map[string][]rbac.Rule // by namespace
	webhook    bool
	unsure     bool
	asked      []string // kinds of reviews
}

func (a *authorizer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var question struct {
		Kind string
		Spec struct {
			Namespace          string
			ResourceAttributes struct{ Namespace, Verb, Group, Resource, Subresource, Name string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&question); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	a.asked = append(a.asked, question.Kind)
	status := map[string]any{"incomplete": a.webhook}
	if question.Kind == "SelfSubjectAccessReview" {
		at := question.Spec.ResourceAttributes
		resource := at.Resource
		if at.Subresource != "" {
			resource += "/" + at.Subresource
		}
		has := func(list []string, word string) bool {
			return slices.Contains(list, "*") || slices.Contains(list, word)
		}
		status["allowed"] = slices.ContainsFunc(slices.Concat(a.everywhere, a.in[at.Namespace]), func(rule rbac.Rule) bool {
			return has(rule.Verbs, at.Verb) && has(rule.APIGroups, at.Group) &&
				(has(rule.Resources, resource) || slices.Contains(rule.Resources, "*/"+at.Subresource)) &&
				(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, at.Name))
		})
		if a.unsure {
			status["evaluationError"] = "a webhook does not answer"
		}
	} else if !a.webhook {
		status["resourceRules"] = slices.Concat(a.everywhere, a.in[question.Spec.Namespace])
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
	return rbac.Rule{Verbs: strings.Split(verbs, ","), APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}
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

func TestNothingIsMissing(t *testing.T) {
	for name, a := range map[string]*authorizer{
		"the least rights": least(), "an administrator": {everywhere: []rbac.Rule{grant("*", "*", "*")}},
	} {
		assert.Empty(t, missing(t, a), name)
		assert.Len(t, a.asked, 3, "one review for each namespace: %s", name)
	}
}

// The role that "orrery rbac --dry-run" printed once took the place of the one with all rights, and
// the next run said nothing.
func TestMissingRightsAreFound(t *testing.T) {
	for want, change := range map[string]func(a *authorizer){
		"update namespaces/status ; update namespaces/finalize ; delete,deletecollection * ; get,update,watch leases kube-system; create leases kube-system; create events kube-system; create,patch events default": func(a *authorizer) {
			*a = authorizer{everywhere: []rbac.Rule{grant("get,watch", "", "namespaces"), grant("list", "*", "*")}}
		},
		"update namespaces/finalize ": func(a *authorizer) { a.everywhere[2] = grant("update", "", "namespaces/x") },
		"":                            func(a *authorizer) { a.everywhere[2] = grant("update", "", "*/finalize") },
		"list,delete,deletecollection * ": func(a *authorizer) {
			a.everywhere[3] = grant("list,delete,deletecollection", "*", "pods")
		},
		"get,update,watch leases kube-system": func(a *authorizer) {
			a.in["kube-system"][0] = grant("get,update,watch", "coordination.k8s.io", "leases", "another")
		},
		"create leases kube-system": func(a *authorizer) { // a right to some names is none to all
			a.in["kube-system"][1] = grant("create", "coordination.k8s.io", "leases", "orrery")
		},
		"list,delete,deletecollection * ; create,patch events default": func(a *authorizer) { // what holds in one namespace does not hold everywhere
			a.in["default"] = []rbac.Rule{}
			a.in["kube-system"] = append(a.in["kube-system"], a.everywhere[3])
			a.everywhere = a.everywhere[:3]
		},
	} {
		for _, webhook := range []bool{false, true} {
			a := least()
			change(a)
			a.webhook = webhook
			assert.Equal(t, want, missing(t, a), "webhook %t", webhook)
		}
	}
}

func TestAServerThatIsNotSureDeniesNothing(t *testing.T) {
	assert.Empty(t, missing(t, &authorizer{webhook: true, unsure: true}))
}

func TestAServerWithoutReviews(t *testing.T) {
	client := restclienttest.NewServer(t, http.NotFoundHandler()).Client()
	_, err := rbac.Missing(t.Context(), client, rbac.Rights(whole()))
	assert.Error(t, err)
}
