package e2e

import (
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// allow grants a group these verbs on Leases, and reading namespaces.
func (e *election) allow(group string, verbs ...string) {
	e.t.Helper()
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: verbs},
		{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get", "list", "watch"}},
	}
	roles := e.client.RbacV1()
	_, err := roles.ClusterRoles().Create(e.ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: group}, Rules: rules}, metav1.CreateOptions{})
	require.NoError(e.t, err)
	_, err = roles.ClusterRoleBindings().Create(e.ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: group},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: group},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group}},
	}, metav1.CreateOptions{})
	require.NoError(e.t, err)
	for _, rule := range rules {
		for _, verb := range rule.Verbs {
			e.awaitAllowed(group, rule.APIGroups[0], rule.Resources[0], verb)
		}
	}
}

// awaitAllowed blocks until the API server grants the right.
func (e *election) awaitAllowed(group, apiGroup, resource, verb string) {
	e.t.Helper()
	question := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		Groups:             []string{group},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Group: apiGroup, Resource: resource, Namespace: "kube-system"},
	}}
	e.eventually(group+" may "+verb+" "+resource, func() (bool, error) {
		answer, err := e.client.AuthorizationV1().SubjectAccessReviews().Create(e.ctx, question, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed, err
	})
}
