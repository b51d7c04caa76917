package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"orrery/controller/rbac"
	"orrery/internal/app/cluster"
	"orrery/upstream/controlplane"
)

// confined is the group of the users in the tests of rights, by which the audit log selects them.
const confined = "confined"

// confinement is a cluster on which users with exactly the rights of package rbac, or fewer, run
// orrery one after the other: each controller sees all namespaces, so a second one would do the
// first one's work.
type confinement struct {
	*trial
	relics *relics
	things schema.GroupVersionResource
	serial int
}

// confinedUser is one such user.
type confinedUser struct {
	*confinement
	name       string // also of its namespace
	kubeconfig string
	program    *program
}

func newConfinement(t *testing.T) *confinement {
	t.Helper()
	c := &confinement{trial: onControlPlane(t, controlplane.Config{AuditPolicy: auditGroup(confined)})}
	c.relics = c.serve(&relics{name: "relics"})
	c.things = c.createCustomType("confined.example.com", "things", "Thing")
	return c
}

func confinedConfig(user string) rbac.Config {
	return rbac.Config{
		Name: user, Subject: rbac.User(user), Controllers: cluster.ControllerRights(false),
		LeaderElection: true, LeaseNamespace: "kube-system", LeaseName: "orrery", Events: true,
	}
}

// admit creates a user with these rights, and a namespace to delete with one object of every type.
func (c *confinement) admit(t *testing.T, rights []rbac.Right) *confinedUser {
	t.Helper()
	c.serial++
	u := &confinedUser{
		confinement: &confinement{trial: c.in(t), relics: c.relics, things: c.things},
		name:        fmt.Sprintf("confined-%d", c.serial),
	}
	u.kubeconfig = u.trial.admit(u.name, manifests(t, confinedConfig(u.name), rights), rights, confined)

	u.createNamespace(u.name)
	u.createConfigMap(u.name, "a")
	u.createSecret(u.name, "b")
	u.createCustom(u.things, "Thing", u.name, "c")
	u.relics.put(u.name, "d")
	u.deleteNamespace(u.name)
	t.Cleanup(u.leave)
	return u
}

// leave ends the program and cleans up.
func (u *confinedUser) leave() {
	if u.program != nil {
		u.program.Kill()
	}
	ctx, client := contextAfter(u.t), u.client
	err := client.CoordinationV1().Leases("kube-system").Delete(ctx, "orrery", metav1.DeleteOptions{})
	assert.True(u.t, err == nil || apierrors.IsNotFound(err), "%v", err)
	err = u.finalize(u.name) // its content does not matter any more
	assert.True(u.t, err == nil || apierrors.IsNotFound(err), "%v", err)
}

// finalize removes a namespace at the end of a test. It retries, since the program's last request
// may conflict.
func (u *confinedUser) finalize(name string) error {
	ctx, namespaces := contextAfter(u.t), u.client.CoreV1().Namespaces()
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		namespace, err := namespaces.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		namespace.Spec.Finalizers = nil
		_, err = namespaces.Finalize(ctx, namespace, metav1.UpdateOptions{})
		return err
	})
}

// contextAfter returns a context for cleanup after the test's own has ended.
func contextAfter(t *testing.T) context.Context { return context.WithoutCancel(t.Context()) }

// run starts orrery as the user.
func (u *confinedUser) run(args ...string) *program {
	u.t.Helper()
	u.program = runOrrery(u.t, u.kubeconfig, append([]string{
		"--leader-elect=true", "--namespace-deletion-grace-period=0", "-v1"}, args...)...)
	return u.program
}

// awaitRefusal blocks until the API server has refused a request that the right would have allowed.
func (u *confinedUser) awaitRefusal(right rbac.Right, verb string) {
	u.t.Helper()
	u.eventually("the user is refused to "+verb, func() (bool, error) {
		return slices.ContainsFunc(u.auditedOf(u.name), func(r Request) bool {
			return r.ResponseStatus.Code == 403 && covers(right, verb, r)
		}), nil
	})
}

// covers reports whether the right with this verb allows the request.
func covers(right rbac.Right, verb string, r Request) bool {
	resource, subresource, _ := strings.Cut(right.Rule.Resources[0], "/")
	if right.Namespace != "" && right.Namespace != r.ObjectRef.Namespace {
		return false
	}
	return r.Verb == verb && (resource == "*" || r.ObjectRef.Resource == resource &&
		r.ObjectRef.Subresource == subresource && r.ObjectRef.APIGroup == right.Rule.APIGroups[0])
}

// TestLeastRightsAreEnough: with the output of "orrery rbac" everything works, the server refuses
// nothing, and each verb of each right is used.
func TestLeastRightsAreEnough(t *testing.T) {
	t.Parallel()
	c := newConfinement(t)
	rights := rbac.Rights(confinedConfig("x"))
	u := c.admit(t, rights)
	u.run()
	u.eventually("namespace "+u.name+" is gone", u.gone)
	assert.Empty(t, c.relics.left(u.name))
	u.eventually("an Event reports it", func() (bool, error) { return len(u.eventsAbout(u.name)) > 0, nil })
	u.program.Interrupt()
	assert.Equal(t, exitInterrupted, u.program.AwaitExit())
	assert.Empty(t, u.leaseHolder("orrery"), "the Lease is released")
	for _, r := range u.auditedOf(u.name) {
		assert.NotEqual(t, 403, r.ResponseStatus.Code, "%s", r)
	}
}

func (u *confinedUser) gone() (bool, error) {
	_, err := u.client.CoreV1().Namespaces().Get(u.ctx, u.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return false, err
}

// loss is the effect of a run without one verb of one right.
type loss struct {
	// prepare creates a situation that needs the right; nil if the namespace is one.
	prepare func(*confinedUser)
	// provoke makes the running program need the right; nil if it needs no help.
	provoke func(*confinedUser)
	// shows checks the effect after the API server has refused.
	shows func(*confinedUser)
}

// ends is the loss of a run that fails. Its last line names the right and the remedy.
func ends(says ...string) loss {
	return loss{shows: func(u *confinedUser) {
		assert.Equal(u.t, 1, u.program.AwaitExit())
		for _, part := range says {
			assert.Contains(u.t, u.program.lastLine(), part)
		}
	}}
}

// stays is the loss of a namespace that remains, with the reason in the log.
func stays(says ...string) loss {
	return loss{shows: func(u *confinedUser) {
		parts := []string{u.name}
		for _, part := range says {
			parts = append(parts, strings.ReplaceAll(part, `"`, `\"`)) // quoted as in a line of the log
		}
		u.program.AwaitOutput(parts...)
		gone, err := u.gone()
		assert.NoError(u.t, err)
		assert.False(u.t, gone)
	}}
}

// losses maps each verb of each right to its loss, by namespace, resource and verb.
var losses = map[string]loss{
	"namespaces get":             stays(`cannot get resource "namespaces"`),
	"namespaces watch":           ends("watching namespaces", "may not do that"),
	"namespaces/finalize update": stays(`cannot update resource "namespaces/finalize"`),
	"namespaces/status update": {
		prepare: func(u *confinedUser) { u.hang() },
		shows: func(u *confinedUser) {
			namespace, err := u.client.CoreV1().Namespaces().Get(u.ctx, u.name+"-hangs", metav1.GetOptions{})
			require.NoError(u.t, err)
			assert.Empty(u.t, namespace.Status.Conditions, "the log does not say why it hangs")
		},
	},
	"* list":                    ends("listing namespaces", "may not do that"),
	"* delete":                  stays(`cannot delete resource "relics"`),
	"* deletecollection":        stays(`cannot deletecollection resource`),
	"kube-system leases get":    ends("orrery rbac", "--leader-elect=false"),
	"kube-system leases create": ends("orrery rbac", "--leader-elect=false"),
	"kube-system leases update": {
		prepare: func(u *confinedUser) { u.leaseOfAnother(1) },
		shows:   ends("orrery rbac").shows,
	},
	"kube-system leases watch": {
		prepare: func(u *confinedUser) { u.leaseOfAnother(3600) },
		shows: func(u *confinedUser) {
			assert.True(u.t, u.program.Running(), "it still waits")
		},
	},
	"kube-system events create": {shows: func(u *confinedUser) {
		u.eventually("namespace "+u.name+" is gone all the same", u.gone)
		holder := u.leaseHolder("orrery")
		require.NotEmpty(u.t, holder)
		for _, event := range u.eventsIn("kube-system", "involvedObject.kind=Lease,involvedObject.name=orrery") {
			assert.NotContains(u.t, event.Message, holder)
		}
	}},
	"default events create": {shows: func(u *confinedUser) {
		u.eventually("namespace "+u.name+" is gone all the same", u.gone)
		assert.Empty(u.t, u.eventsAbout(u.name))
	}},
	"default events patch": {
		prepare: func(u *confinedUser) { u.hang() },
		// The obstacle changes and changes back, so the first report is repeated.
		provoke: func(u *confinedUser) {
			name := u.name + "-hangs"
			u.awaitCondition(name, corev1.NamespaceFinalizersRemaining)
			u.createNowhereAPIService("nowhere.example.com")
			u.awaitCondition(name, corev1.NamespaceDeletionDiscoveryFailure)
			require.NoError(u.t, u.dynamic.Resource(apiServices).Delete(u.ctx, "v1.nowhere.example.com",
				metav1.DeleteOptions{}))
		},
		shows: func(u *confinedUser) {
			for _, event := range u.eventsAbout(u.name + "-hangs") {
				assert.Equal(u.t, int32(1), event.Count, "%s: the second report is missing", event.Reason)
			}
		},
	},
}

// hang creates a namespace that never goes.
func (u *confinedUser) hang() {
	u.t.Helper()
	name := u.name + "-hangs"
	u.createNamespace(name)
	u.createConfigMap(name, "held", holdingFinalizer)
	u.deleteNamespace(name)
	u.t.Cleanup(func() { assert.NoError(u.t, u.finalize(name)) })
}

// leaseOfAnother creates the Lease with another holder. It expires after the given number of
// seconds.
func (u *confinedUser) leaseOfAnother(seconds int32) {
	u.t.Helper()
	now := metav1.NowMicro()
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "orrery"},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("another"), LeaseDurationSeconds: &seconds,
			AcquireTime: &now, RenewTime: &now},
	}
	_, err := u.client.CoordinationV1().Leases("kube-system").Create(u.ctx, lease, metav1.CreateOptions{})
	require.NoError(u.t, err)
}

// TestEachRightIsNeeded removes one verb of one right at a time.
func TestEachRightIsNeeded(t *testing.T) {
	t.Parallel()
	c := newConfinement(t)
	rights := rbac.Rights(confinedConfig("x"))
	tested := 0
	withoutEach(t, rights, func(t *testing.T, right rbac.Right, verb string, less []rbac.Right) {
		name := strings.TrimSpace(right.Namespace + " " + right.Rule.Resources[0] + " " + verb)
		loss, known := losses[name]
		require.True(t, known, "losses has no entry for %q", name)
		tested++
		u := c.admit(t, less)
		may, err := u.may(u.name, right, verb)
		require.NoError(t, err)
		require.False(t, may, "another right includes it")
		if loss.prepare != nil {
			loss.prepare(u)
		}
		u.run()
		if loss.provoke != nil {
			loss.provoke(u)
		}
		u.awaitRefusal(right, verb)
		loss.shows(u)
	})
	assert.Len(t, losses, tested, "losses has an entry for an unknown right")
}

// controllerRole is kube-apiserver's own role for the namespace controller, and the name of its
// binding to ControllerIdentity.
const controllerRole = "system:controller:namespace-controller"

// withholdRights takes all rights on one type from the controller. RBAC can only grant, so a role
// that names all other types replaces the one that grants everything.
func (tr *trial) withholdRights(withheld schema.GroupResource) (grant func()) {
	tr.t.Helper()
	roles := tr.client.RbacV1().ClusterRoles()
	role, err := roles.Get(tr.ctx, controllerRole, metav1.GetOptions{})
	require.NoError(tr.t, err)
	lesser := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "lesser"}}
	for _, rule := range role.Rules {
		if !slices.Contains(rule.APIGroups, rbacv1.APIGroupAll) {
			lesser.Rules = append(lesser.Rules, rule)
			continue
		}
		// Events also have a second group, which namespacedResources leaves out.
		all := append(tr.namespacedResources(), eventsv1.SchemeGroupVersion.WithResource("events"))
		for _, resource := range all {
			if resource.GroupResource() != withheld {
				lesser.Rules = append(lesser.Rules, rbacv1.PolicyRule{
					Verbs: rule.Verbs, APIGroups: []string{resource.Group}, Resources: []string{resource.Resource},
				})
			}
		}
	}
	_, err = roles.Create(tr.ctx, lesser, metav1.CreateOptions{})
	require.NoError(tr.t, err)

	bindings := tr.client.RbacV1().ClusterRoleBindings()
	binding, err := bindings.Get(tr.ctx, controllerRole, metav1.GetOptions{})
	require.NoError(tr.t, err)
	binding.ObjectMeta = metav1.ObjectMeta{Name: "lesser"}
	binding.RoleRef.Name = "lesser"
	_, err = bindings.Create(tr.ctx, binding, metav1.CreateOptions{})
	require.NoError(tr.t, err)
	require.NoError(tr.t, bindings.Delete(tr.ctx, controllerRole, metav1.DeleteOptions{}))
	tr.awaitRight(withheld, false)
	// The server watches roles and bindings separately, so it may know the binding before the role.
	tr.awaitRight(schema.GroupResource{Resource: "configmaps"}, true)
	return func() {
		tr.t.Helper()
		binding.ObjectMeta = metav1.ObjectMeta{Name: controllerRole}
		binding.RoleRef.Name = controllerRole
		_, err := bindings.Create(tr.ctx, binding, metav1.CreateOptions{})
		require.NoError(tr.t, err)
	}
}

// awaitRight blocks until the API server, which watches roles, decides as expected.
func (tr *trial) awaitRight(resource schema.GroupResource, allowed bool) {
	tr.t.Helper()
	question := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: ControllerIdentity,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "deletecollection", Group: resource.Group,
			Resource: resource.Resource},
	}}
	tr.eventually("the controller's rights have changed", func() (bool, error) {
		answer, err := tr.client.AuthorizationV1().SubjectAccessReviews().Create(tr.ctx, question,
			metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed == allowed, err
	})
}

// admit creates roles and their bindings for a new user in the groups, waits until the API server
// knows of these rights, and returns the user's kubeconfig file.
func (tr *trial) admit(user, manifests string, rights []rbac.Right, groups ...string) (kubeconfig string) {
	tr.t.Helper()
	kubeconfig, err := tr.cluster.KubeconfigFor(user, groups...)
	require.NoError(tr.t, err)
	tr.kubectl("create --validate=strict -f -\n" + manifests)
	for _, right := range rights {
		for _, verb := range right.Rule.Verbs {
			tr.eventually("the server knows of the rights", func() (bool, error) { return tr.may(user, right, verb) })
		}
	}
	return kubeconfig
}

// may reports whether the API server grants a user a right.
func (tr *trial) may(user string, right rbac.Right, verb string) (bool, error) {
	resource, subresource, _ := strings.Cut(right.Rule.Resources[0], "/")
	attributes := &authorizationv1.ResourceAttributes{
		Verb: verb, Group: right.Rule.APIGroups[0], Resource: resource, Subresource: subresource,
		Namespace: right.Namespace,
	}
	if len(right.Rule.ResourceNames) > 0 {
		attributes.Name = right.Rule.ResourceNames[0]
	}
	review := &authorizationv1.SubjectAccessReview{}
	review.Spec.User, review.Spec.ResourceAttributes = user, attributes
	answer, err := tr.client.AuthorizationV1().SubjectAccessReviews().Create(tr.ctx, review, metav1.CreateOptions{})
	return err == nil && answer.Status.Allowed, err
}

// manifests returns the roles and bindings that grant rights.
func manifests(t *testing.T, config rbac.Config, rights []rbac.Right) string {
	t.Helper()
	var text strings.Builder
	require.NoError(t, rbac.WriteYAML(&text, rbac.Bind(config, rights)))
	return text.String()
}

// withoutEach runs a test for each verb of each right, with the rights that remain without that one.
func withoutEach(
	t *testing.T, rights []rbac.Right, test func(t *testing.T, right rbac.Right, verb string, less []rbac.Right),
) {
	for i, right := range rights {
		for j, verb := range right.Rule.Verbs {
			t.Run(strings.TrimSpace(right.Namespace+" "+right.Rule.Resources[0]+" "+verb), func(t *testing.T) {
				less := slices.Clone(rights)
				less[i].Rule.Verbs = slices.Delete(slices.Clone(right.Rule.Verbs), j, j+1)
				less = slices.DeleteFunc(less, func(r rbac.Right) bool { return len(r.Rule.Verbs) == 0 })
				test(t, right, verb, less)
			})
		}
	}
}
