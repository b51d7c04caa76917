package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"orrery/internal/lab/apiserver/resources"
	"orrery/upstream/controlplane"
)

// recordPatches records how the server applies patches, and its errors about documents that do not
// fit their types. The lines of the two files say what to ask; their answers are renewed. Only the
// patched objects are stored.
func recordPatches(ctx context.Context, _ order) error {
	s, err := start(ctx, controlplane.Config{})
	if err != nil {
		return err
	}
	defer s.Stop()
	if _, err := s.create(ctx, "/api/v1/namespaces", `{"metadata":{"name":"patches"}}`); err != nil {
		return err
	}
	collections := collectionsIn("patches")
	err = renew("patches.jsonl", func(line *patched) error {
		return s.patch(ctx, collections[fmt.Sprintf("%s %s", line.Object["apiVersion"], line.Kind)], line)
	})
	if err != nil {
		return err
	}
	return renew("documents.jsonl", func(line *document) error {
		return s.check(ctx, collections[line.APIVersion+" "+line.Kind], line)
	})
}

// collectionsIn returns the paths of the collections by apiVersion and kind. Those of namespaced
// resources are in the given namespace.
func collectionsIn(namespace string) map[string]string {
	paths := map[string]string{}
	for _, d := range resources.NewCatalog().All() {
		path := "/" + resources.PathOf(d.Resource().GroupVersion())
		if d.Namespaced {
			path += "/namespaces/" + namespace
		}
		paths[d.Resource().GroupVersion().String()+" "+d.Kind] = path + "/" + d.Plural
	}
	return paths
}

// renew renews the answer in every line of a file.
func renew[T any](name string, ask func(line *T) error) error {
	file := filepath.Join(root, "resources", "testdata", name)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var lines []T
	decoder := json.NewDecoder(bytes.NewReader(text))
	for decoder.More() {
		var line T
		if err := decoder.Decode(&line); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := ask(&line); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		lines = append(lines, line)
	}
	return writeLines(file, lines)
}

// tree is a JSON object.
type tree map[string]any

func (t tree) metadata() map[string]any {
	metadata, _ := t["metadata"].(map[string]any)
	return metadata
}

// patched is a line of patches.jsonl.
type patched struct {
	Kind    string          `json:"kind"`
	Object  tree            `json:"object"`
	Type    types.PatchType `json:"type"`
	Patch   string          `json:"patch"`
	Result  tree            `json:"result,omitempty"`
	Code    any             `json:"code,omitempty"`
	Reason  any             `json:"reason,omitempty"`
	Message string          `json:"message,omitempty"`
}

// patch stores the object, unless an earlier line has, and patches it without storing the result.
func (s server) patch(ctx context.Context, collection string, line *patched) error {
	text, err := json.Marshal(line.Object)
	if err != nil {
		return err
	}
	stored, err := s.create(ctx, collection, string(text))
	if err != nil {
		return err
	}
	if stored["kind"] == "Status" && stored["reason"] != string(metav1.StatusReasonAlreadyExists) {
		return fmt.Errorf("%s: %v", collection, stored["message"])
	}
	path := collection + "/" + fmt.Sprint(line.Object.metadata()["name"])
	var object, answer tree
	if err := s.get(ctx, path, acceptJSON, &object); err != nil {
		return err
	}
	if _, err := s.send(ctx, http.MethodPatch, path+"?dryRun=All", acceptJSON, string(line.Type), line.Patch,
		&answer); err != nil {
		return err
	}
	*line = patched{Kind: line.Kind, Object: normalized(object), Type: line.Type, Patch: line.Patch}
	if answer["kind"] == "Status" {
		line.Code, line.Reason, line.Message = answer["code"], answer["reason"], sentence(answer)
	} else {
		line.Result = normalized(answer)
	}
	return nil
}

// create sends a POST request. What exists already stays.
func (s server) create(ctx context.Context, path, body string) (answer tree, err error) {
	_, err = s.send(ctx, http.MethodPost, path, acceptJSON, acceptJSON, body, &answer)
	return answer, err
}

// normalized returns an object without what differs from run to run and what only the server
// writes.
func normalized(object tree) tree {
	for _, field := range []string{"namespace", "managedFields", "generation", "resourceVersion", "uid",
		"creationTimestamp"} {
		delete(object.metadata(), field)
	}
	delete(object, "status")
	return object
}

// sentence returns a message without the document that some quote, which has times and versions.
func sentence(answer tree) string {
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

// check sends a document, which is not stored.
func (s server) check(ctx context.Context, collection string, line *document) error {
	answer, err := s.create(ctx, collection+"?dryRun=All&fieldValidation=Strict", string(line.Document))
	_, line.Mistake, _ = strings.Cut(fmt.Sprint(answer["message"]), " cannot be handled as a "+line.Kind+": ")
	return err
}
