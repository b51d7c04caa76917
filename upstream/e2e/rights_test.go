package e2e

import (
	"slices"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// controllerRole is kube-apiserver's own role for the namespace controller, and the name of its
// binding to ControllerIdentity.
const controllerRole = "system:controller:namespace-controller"

// withholdRights takes all rights on one type from the controller. RBAC can only grant, so a role
// that names all other types replaces the one that grants everything.
func (genuineHindrances) withholdRights(tr *trial, withheld schema.GroupResource) (grant func()) {
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
		User:               ControllerIdentity,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "deletecollection", Group: resource.Group, Resource: resource.Resource},
	}}
	tr.eventually("the controller's rights have changed", func() (bool, error) {
		answer, err := tr.client.AuthorizationV1().SubjectAccessReviews().Create(tr.ctx, question, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed == allowed, err
	})
}
