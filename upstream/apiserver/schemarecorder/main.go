// Command schemarecorder writes down what the built-in API server has to know of the types of Kubernetes: their
// fields, as a running kube-apiserver publishes them at /openapi/v3, without its texts; and the names that the types have
// in Go, which appear in the sentences about values that do not fit, as the Go packages declare them.
//
// The result is internal/lab/apiserver/schema/builtin.jsonl, one definition a line, in alphabetical order. Two runs against
// the same version of Kubernetes write the same bytes.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "of a running control plane")
	output := flag.String("output", "", "the file to write")
	flag.Parse()
	if err := record(context.Background(), *kubeconfig, *output); err != nil {
		fmt.Fprintln(os.Stderr, "schemarecorder:", err)
		os.Exit(1)
	}
}

func record(ctx context.Context, kubeconfig, output string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	published, err := fetch(ctx, config)
	if err != nil {
		return err
	}
	kept, err := closure(published, roots())
	if err != nil {
		return err
	}
	declared := goTypes()
	var file bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		line, err := json.Marshal(newDefinition(name, kept[name], declared[name]))
		if err != nil {
			return err
		}
		file.Write(line)
		file.WriteByte('\n')
	}
	return os.WriteFile(output, file.Bytes(), 0o644)
}

// fetch reads the definitions of every group and version that the server's types come from.
func fetch(ctx context.Context, config *rest.Config) (map[string]any, error) {
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	client, err := rest.UnversionedRESTClientForConfigAndClient(plain(config), transport)
	if err != nil {
		return nil, err
	}
	all := map[string]any{}
	for _, path := range documents() {
		data, err := client.Get().AbsPath("/openapi/v3/" + path).DoRaw(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		var document struct {
			Components struct {
				Schemas map[string]any `json:"schemas"`
			} `json:"components"`
		}
		if err := json.Unmarshal(data, &document); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for name, schema := range document.Components.Schemas {
			merge(all, name, strip(schema))
		}
	}
	return all, nil
}

// merge adds a definition. Documents of several groups carry the shared types, each with the kinds of its own group only.
func merge(all map[string]any, name string, schema any) {
	if _, known := all[name]; !known {
		all[name] = schema
	}
}

// closure returns the definitions that the roots refer to, with the roots.
func closure(published map[string]any, roots []string) (map[string]map[string]any, error) {
	kept := map[string]map[string]any{}
	for todo := roots; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		if kept[name] != nil {
			continue
		}
		schema, ok := published[name].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("the server does not publish %s", name)
		}
		kept[name] = schema
		todo = append(todo, references(schema)...)
	}
	return kept, nil
}

func references(value any) []string {
	var names []string
	switch v := value.(type) {
	case map[string]any:
		if reference, ok := v["$ref"].(string); ok {
			names = append(names, strings.TrimPrefix(reference, referencePrefix))
		}
		for _, inner := range v {
			names = append(names, references(inner)...)
		}
	case []any:
		for _, inner := range v {
			names = append(names, references(inner)...)
		}
	}
	return names
}
