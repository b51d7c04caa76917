// Command patchrecorder records how a running kube-apiserver applies patches, and its errors about
// documents that do not fit their types, in internal/lab/apiserver/schema/testdata/patches.jsonl and
// internal/lab/apiserver/schema/testdata/documents.jsonl. It stores only the patched objects, in a
// namespace that it deletes.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "of a running control plane")
	root := flag.String("root", "../internal/lab/apiserver", "the directory of the server's packages")
	flag.Parse()
	if err := run(context.Background(), *kubeconfig, *root); err != nil {
		fmt.Fprintln(os.Stderr, "patchrecorder:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, root string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme())
	config.WarningHandler = rest.NoWarnings{}
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	client, err := rest.UnversionedRESTClientForConfigAndClient(config, transport)
	if err != nil {
		return err
	}
	r := recorder{client: client}
	// A new name: without a namespace controller the last run's namespace still exists.
	made := r.send(ctx, http.MethodPost, "/api/v1/namespaces", "application/json", `{"metadata":{"generateName":"patch-recorder-"}}`)
	metadata, _ := made["metadata"].(map[string]any)
	if r.namespace, _ = metadata["name"].(string); r.namespace == "" {
		return fmt.Errorf("namespace: %v", made["message"])
	}
	defer r.send(ctx, http.MethodDelete, "/api/v1/namespaces/"+r.namespace, "application/json", "")
	if err := r.patches(ctx, filepath.Join(root, "schema/testdata/patches.jsonl")); err != nil {
		return err
	}
	return r.documents(ctx, filepath.Join(root, "schema/testdata/documents.jsonl"))
}

type recorder struct {
	client    *rest.RESTClient
	namespace string
}

func (r recorder) send(ctx context.Context, method, path, contentType, body string) map[string]any {
	request := r.client.Verb(method).RequestURI(path).SetHeader("Content-Type", contentType).Body([]byte(body))
	data, err := request.DoRaw(ctx)
	answer := map[string]any{}
	if decoding := json.Unmarshal(data, &answer); decoding != nil {
		answer["message"] = fmt.Sprint(err)
	}
	return answer
}

// patched is a line of patches.jsonl.
type patched struct {
	Kind    string          `json:"kind"`
	Object  map[string]any  `json:"object"`
	Type    types.PatchType `json:"type"`
	Patch   string          `json:"patch"`
	Result  map[string]any  `json:"result,omitempty"`
	Code    any             `json:"code,omitempty"`
	Reason  any             `json:"reason,omitempty"`
	Message string          `json:"message,omitempty"`
}

func (r recorder) patches(ctx context.Context, file string) error {
	var out lines
	for _, subject := range subjects {
		path := strings.Replace(subject.path, "NAMESPACE", r.namespace, 1)
		object := r.send(ctx, http.MethodPost, path, "application/json", subject.object)
		metadata, _ := object["metadata"].(map[string]any)
		name, ok := metadata["name"].(string)
		if !ok {
			return fmt.Errorf("%s: %v", subject.path, object["message"])
		}
		for _, change := range subject.changes {
			answer := r.send(ctx, http.MethodPatch, path+"/"+name+"?dryRun=All", string(change.kind), change.patch)
			line := patched{Kind: fmt.Sprint(object["kind"]), Object: normalized(object), Type: change.kind, Patch: change.patch}
			if answer["kind"] == "Status" {
				line.Code, line.Reason, line.Message = answer["code"], answer["reason"], sentence(answer)
			} else {
				line.Result = normalized(answer)
			}
			if err := out.add(line); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

// normalized returns an object without what differs from run to run and what only the server
// writes.
func normalized(object map[string]any) map[string]any {
	data, _ := json.Marshal(object)
	var out map[string]any
	_ = json.Unmarshal(data, &out)
	metadata, _ := out["metadata"].(map[string]any)
	for _, field := range []string{"namespace", "managedFields", "generation", "resourceVersion", "uid", "creationTimestamp"} {
		delete(metadata, field)
	}
	delete(out, "status")
	return out
}

// sentence returns a message without the document that some quote, which has times and versions.
func sentence(answer map[string]any) string {
	message := fmt.Sprint(answer["message"])
	if _, tail, ok := strings.Cut(message, `}": `); ok && strings.HasPrefix(message, ` "" is invalid: patch`) {
		return "...: " + tail
	}
	return message
}

// document is a line of documents.jsonl.
type document struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Document   json.RawMessage `json:"document"`
	// The server's error about the document, if any.
	Mistake string `json:"mistake,omitempty"`
}

func (r recorder) documents(ctx context.Context, file string) error {
	var out lines
	for _, group := range documents {
		path := strings.Replace(group.path, "NAMESPACE", r.namespace, 1)
		for _, text := range group.documents {
			answer := r.send(ctx, http.MethodPost, path+"?dryRun=All&fieldValidation=Strict", "application/json", text)
			line := document{APIVersion: group.apiVersion, Kind: group.kind, Document: json.RawMessage(text)}
			if _, mistake, ok := strings.Cut(fmt.Sprint(answer["message"]), " cannot be handled as a "+group.kind+": "); ok {
				line.Mistake = mistake
			}
			if err := out.add(line); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

type lines struct{ bytes.Buffer }

func (l *lines) add(line any) error {
	encoder := json.NewEncoder(&l.Buffer)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(line)
}
