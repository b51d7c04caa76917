// Command protobufrecorder writes down how Kubernetes' own types travel in protobuf: the numbers and types of their fields, which stand
// in the tags of the Go structs. The built-in API server reads the bodies of kubectl and client-go with it.
//
//	go run ./apiserver/protobufrecorder > ../internal/lab/apiserver/protobuf/messages.txt
package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	autoscaling "k8s.io/api/autoscaling/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	events "k8s.io/api/events/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// roots are the objects that a client may send.
var roots = []struct {
	groupVersion string
	objects      []any
}{
	{"v1", []any{
		core.Namespace{}, core.Pod{}, core.Service{}, core.ConfigMap{}, core.Secret{}, core.ServiceAccount{}, core.Event{},
		core.PersistentVolumeClaim{}, core.ResourceQuota{}, core.LimitRange{}, core.Node{}, core.Binding{}, meta.DeleteOptions{},
	}},
	{"meta.k8s.io/v1", []any{meta.DeleteOptions{}}},
	{"apps/v1", []any{apps.Deployment{}, apps.ReplicaSet{}}},
	{"authentication.k8s.io/v1", []any{authentication.TokenRequest{}, authentication.TokenReview{}, authentication.SelfSubjectReview{}}},
	{"authorization.k8s.io/v1", []any{
		authorization.LocalSubjectAccessReview{}, authorization.SelfSubjectAccessReview{}, authorization.SelfSubjectRulesReview{},
		authorization.SubjectAccessReview{},
	}},
	{"autoscaling/v1", []any{autoscaling.Scale{}}},
	{"coordination.k8s.io/v1", []any{coordination.Lease{}}},
	{"events.k8s.io/v1", []any{events.Event{}}},
	{"policy/v1", []any{policy.Eviction{}}},
	{"rbac.authorization.k8s.io/v1", []any{rbac.Role{}, rbac.RoleBinding{}, rbac.ClusterRole{}, rbac.ClusterRoleBinding{}}},
	{"admissionregistration.k8s.io/v1", []any{
		admissionregistration.MutatingWebhookConfiguration{}, admissionregistration.ValidatingWebhookConfiguration{},
		admissionregistration.ValidatingAdmissionPolicy{}, admissionregistration.ValidatingAdmissionPolicyBinding{},
	}},
	{"apiextensions.k8s.io/v1", []any{apiextensions.CustomResourceDefinition{}}},
	{"apiregistration.k8s.io/v1", []any{apiregistration.APIService{}}},
}

// special are the types whose JSON is not that of their fields. The reader knows them by these names.
var special = map[reflect.Type]string{
	reflect.TypeFor[meta.Time]():                                  "Time",
	reflect.TypeFor[meta.MicroTime]():                             "MicroTime",
	reflect.TypeFor[meta.Duration]():                              "Duration",
	reflect.TypeFor[meta.FieldsV1]():                              "Raw",
	reflect.TypeFor[runtime.RawExtension]():                       "Raw",
	reflect.TypeFor[apiextensions.JSON]():                         "Raw",
	reflect.TypeFor[resource.Quantity]():                          "Quantity",
	reflect.TypeFor[intstr.IntOrString]():                         "IntOrString",
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrArray]():       "SchemaOrArray",
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrBool]():        "SchemaOrBool",
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrStringArray](): "SchemaOrStrings",
	reflect.TypeFor[authentication.ExtraValue]():                  "Strings",
	reflect.TypeFor[authorization.ExtraValue]():                   "Strings",
	reflect.TypeFor[meta.Verbs]():                                 "Strings",
}

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write writes the file.
func write(w io.Writer) error {
	r := recorder{messages: map[string][]string{}}
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "# How Kubernetes' types travel in protobuf. Written by upstream/apiserver/protobufrecorder; do not edit.")
	for _, root := range roots {
		for _, object := range root.objects {
			t := reflect.TypeOf(object)
			fmt.Fprintf(out, "kind %s %s %s\n", root.groupVersion, t.Name(), r.message(t))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.messages)) {
		fmt.Fprintf(out, "message %s\n%s", name, strings.Join(r.messages[name], ""))
	}
	return out.Flush()
}

// recorder collects messages.
type recorder struct{ messages map[string][]string }

// message records a struct and returns its name.
func (r recorder) message(t reflect.Type) string {
	name := path.Base(path.Dir(t.PkgPath())) + "." + t.Name()
	if _, known := r.messages[name]; known {
		return name
	}
	r.messages[name] = nil // it may contain itself
	var lines []string
	for i := range t.NumField() {
		field := t.Field(i)
		tag := field.Tag.Get("protobuf")
		if tag == "" || tag == "-" {
			continue
		}
		lines = append(lines, r.field(field, tag))
	}
	r.messages[name] = lines
	return name
}

// field is a line: number, JSON name ("-" for a struct whose fields are those of its parent), flags and type. The flags are o for
// fields that are left out when they are empty, and p for pointers, of which only nil is empty.
func (r recorder) field(field reflect.StructField, tag string) string {
	number := strings.Split(tag, ",")[1]
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "" {
		name = "-"
	}
	flags := "."
	if strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") {
		flags += "o"
	}
	t := field.Type
	if t.Kind() == reflect.Pointer {
		flags += "p"
	}
	return fmt.Sprintf("%s %s %s %s\n", number, name, flags, r.typeOf(t))
}

func (r recorder) typeOf(t reflect.Type) string {
	if name, ok := special[t]; ok {
		return name
	}
	switch t.Kind() {
	case reflect.Pointer:
		return r.typeOf(t.Elem())
	case reflect.Struct:
		return r.message(t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + r.typeOf(t.Elem())
	case reflect.Map:
		return "map:" + r.typeOf(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "int"
	case reflect.Float64:
		return "double"
	}
	panic("no form is known for " + t.String())
}
