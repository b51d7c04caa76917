package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"orrery/controller/rbac"
)

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
