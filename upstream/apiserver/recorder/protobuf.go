package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	autoscaling "k8s.io/api/autoscaling/v1"
	certificates "k8s.io/api/certificates/v1"
	policy "k8s.io/api/policy/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"orrery/internal/lab/apiserver/resources"
)

// otherObjects are objects of requests that are not resources.
var otherObjects = []struct {
	groupVersion string
	objects      []any
}{
	{"v1", []any{meta.DeleteOptions{}}},
	{"meta.k8s.io/v1", []any{meta.DeleteOptions{}}},
	{"authentication.k8s.io/v1", []any{authentication.TokenRequest{}, authentication.TokenReview{},
		authentication.SelfSubjectReview{}}},
	{"authorization.k8s.io/v1", []any{
		authorization.LocalSubjectAccessReview{}, authorization.SelfSubjectAccessReview{},
		authorization.SelfSubjectRulesReview{},
		authorization.SubjectAccessReview{},
	}},
	{"autoscaling/v1", []any{autoscaling.Scale{}}},
	{"policy/v1", []any{policy.Eviction{}}},
}

// objectRoot is an object of a request.
type objectRoot struct {
	groupVersion string
	object       reflect.Type
}

// objectRoots returns all of them, those of the server's resources first.
func objectRoots() ([]objectRoot, error) {
	known := knownTypes()
	var all []objectRoot
	for _, group := range resources.NewCatalog().Groups() {
		for _, version := range group.Versions {
			gv := schema.GroupVersion{Group: group.Name, Version: version.Version}
			for _, d := range version.Definitions {
				if d.IsReview() || d.Kind == "CustomResourceDefinition" {
					continue // one of the others, or sent in JSON by every client
				}
				object, err := known.New(gv.WithKind(d.Kind))
				if err != nil {
					return nil, err
				}
				all = append(all, objectRoot{gv.String(), reflect.TypeOf(object).Elem()})
			}
		}
	}
	for _, other := range otherObjects {
		for _, object := range other.objects {
			all = append(all, objectRoot{other.groupVersion, reflect.TypeOf(object)})
		}
	}
	return all, nil
}

// special are the types whose JSON is not that of their fields. The reader has the same names.
var special = map[reflect.Type]string{
	reflect.TypeFor[meta.Time]():                 "Time",
	reflect.TypeFor[meta.MicroTime]():            "MicroTime",
	reflect.TypeFor[meta.Duration]():             "Duration",
	reflect.TypeFor[meta.FieldsV1]():             "Raw",
	reflect.TypeFor[runtime.RawExtension]():      "Raw",
	reflect.TypeFor[quantity.Quantity]():         "Quantity",
	reflect.TypeFor[intstr.IntOrString]():        "IntOrString",
	reflect.TypeFor[authentication.ExtraValue](): "Strings",
	reflect.TypeFor[authorization.ExtraValue]():  "Strings",
	reflect.TypeFor[certificates.ExtraValue]():   "Strings",
	reflect.TypeFor[meta.Verbs]():                "Strings",
}

// recordProtobuf records the protobuf form of Kubernetes' types: the numbers and types of their
// fields, from the Go structs' tags. With it the server in memory reads the bodies of kubectl and
// client-go.
func recordProtobuf(context.Context, order) error {
	var file bytes.Buffer
	if err := writeMessages(&file); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "resources", "messages.txt"), file.Bytes(), 0o644)
}

// writeMessages writes the file.
func writeMessages(w io.Writer) error {
	r := messageRecorder{messages: map[string][]string{}}
	out := bufio.NewWriter(w)
	fmt.Fprintln(out,
		"# How Kubernetes' types travel in protobuf. Written by upstream/apiserver/recorder; do not edit.")
	all, err := objectRoots()
	if err != nil {
		return err
	}
	for _, root := range all {
		fmt.Fprintf(out, "kind %s %s %s\n", root.groupVersion, root.object.Name(), r.message(root.object))
	}
	for _, name := range slices.Sorted(maps.Keys(r.messages)) {
		fmt.Fprintf(out, "message %s\n%s", name, strings.Join(r.messages[name], ""))
	}
	return out.Flush()
}

// messageRecorder collects messages.
type messageRecorder struct{ messages map[string][]string }

// message records a struct and returns its name.
func (r messageRecorder) message(t reflect.Type) string {
	group := path.Base(path.Dir(t.PkgPath()))
	if version := path.Base(t.PkgPath()); version != "v1" {
		group += version // autoscaling has two
	}
	name := group + "." + t.Name()
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

// field returns a line: number, JSON name ("-" for an inlined struct), flags and type. The flags
// are o for omitempty, and p for pointers, of which only nil is empty.
func (r messageRecorder) field(field reflect.StructField, tag string) string {
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

func (r messageRecorder) typeOf(t reflect.Type) string {
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
