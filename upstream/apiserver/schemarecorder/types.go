package main

import (
	"reflect"
	"slices"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

const referencePrefix = "#/components/schemas/"

// served are the kinds that the built-in server knows, by the document that publishes them.
var served = []struct{ path, types, kinds string }{
	{"api/v1", "io.k8s.api.core.v1", "Namespace NamespaceList Pod PodList Service ServiceList ConfigMap ConfigMapList Secret " +
		"SecretList ServiceAccount ServiceAccountList Event EventList PersistentVolumeClaim PersistentVolumeClaimList " +
		"ResourceQuota ResourceQuotaList LimitRange LimitRangeList Node NodeList Binding"},
	{"apis/events.k8s.io/v1", "io.k8s.api.events.v1", "Event EventList"},
	{"apis/coordination.k8s.io/v1", "io.k8s.api.coordination.v1", "Lease LeaseList"},
	{"apis/apps/v1", "io.k8s.api.apps.v1", "Deployment DeploymentList ReplicaSet ReplicaSetList"},
	{"apis/rbac.authorization.k8s.io/v1", "io.k8s.api.rbac.v1", "Role RoleList RoleBinding RoleBindingList ClusterRole " +
		"ClusterRoleList ClusterRoleBinding ClusterRoleBindingList"},
	{"apis/apiextensions.k8s.io/v1", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1",
		"CustomResourceDefinition CustomResourceDefinitionList"},
	{"apis/apiregistration.k8s.io/v1", "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1", "APIService APIServiceList"},
	{"apis/admissionregistration.k8s.io/v1", "io.k8s.api.admissionregistration.v1", "ValidatingWebhookConfiguration " +
		"ValidatingWebhookConfigurationList MutatingWebhookConfiguration MutatingWebhookConfigurationList " +
		"ValidatingAdmissionPolicy ValidatingAdmissionPolicyList ValidatingAdmissionPolicyBinding " +
		"ValidatingAdmissionPolicyBindingList"},
	{"apis/authentication.k8s.io/v1", "io.k8s.api.authentication.v1", "TokenRequest SelfSubjectReview"},
	{"apis/authorization.k8s.io/v1", "io.k8s.api.authorization.v1", "SubjectAccessReview SelfSubjectAccessReview " +
		"SelfSubjectRulesReview LocalSubjectAccessReview"},
	{"apis/autoscaling/v1", "io.k8s.api.autoscaling.v1", "Scale"},
	{"api/v1", "io.k8s.api.policy.v1", "Eviction"},
	{"api/v1", "io.k8s.apimachinery.pkg.apis.meta.v1", "Status DeleteOptions Patch ObjectMeta WatchEvent"},
}

func documents() []string {
	var paths []string
	for _, s := range served {
		if !slices.Contains(paths, s.path) {
			paths = append(paths, s.path)
		}
	}
	return paths
}

func roots() []string {
	var names []string
	for _, s := range served {
		for _, kind := range strings.Fields(s.kinds) {
			names = append(names, s.types+"."+kind)
		}
	}
	return names
}

// goTypes returns the structs that the published types are made of, by the published name.
func goTypes() map[string]reflect.Type {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensions.AddToScheme, apiregistration.AddToScheme} {
		if err := add(known); err != nil {
			panic(err) // a programming error of this file
		}
	}
	types := map[string]reflect.Type{}
	for _, t := range known.AllKnownTypes() {
		collect(types, t)
	}
	return types
}

func collect(types map[string]reflect.Type, t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		collect(types, t.Elem())
	case reflect.Struct:
		name := publishedName(t)
		if name == "" || types[name] != nil {
			return
		}
		types[name] = t
		for i := range t.NumField() {
			collect(types, t.Field(i).Type)
		}
	}
}

// publishedName is the name under which the OpenAPI documents have a Go type.
func publishedName(t reflect.Type) string {
	path, ok := strings.CutPrefix(t.PkgPath(), "k8s.io/")
	if !ok {
		return ""
	}
	return "io.k8s." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

// plain makes a configuration for reading documents.
func plain(config *rest.Config) *rest.Config {
	c := rest.CopyConfig(config)
	c.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme())
	return c
}
