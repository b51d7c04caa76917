package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// recordPatches records how the server applies patches, and its errors about documents that do not
// fit their types. It stores only the patched objects.
func recordPatches(ctx context.Context, _ order) error {
	s, err := start(ctx)
	if err != nil {
		return err
	}
	defer s.Stop()
	if _, err := s.create(ctx, "/api/v1/namespaces", `{"metadata":{"name":"patches"}}`); err != nil {
		return err
	}
	if err := s.patches(ctx, filepath.Join(root, "resources/testdata/patches.jsonl")); err != nil {
		return err
	}
	return s.documents(ctx, filepath.Join(root, "resources/testdata/documents.jsonl"))
}

// create sends a POST request for a path in which NAMESPACE stands for the namespace.
func (s server) create(ctx context.Context, path, body string) (map[string]any, error) {
	return s.call(ctx, http.MethodPost, inNamespace(path), acceptJSON, acceptJSON, body)
}

func inNamespace(path string) string { return strings.Replace(path, "NAMESPACE", "patches", 1) }

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

func (s server) patches(ctx context.Context, file string) error {
	var lines []patched
	for _, subject := range subjects {
		object, err := s.create(ctx, subject.path, subject.object)
		if err != nil {
			return err
		}
		metadata, _ := object["metadata"].(map[string]any)
		name, ok := metadata["name"].(string)
		if !ok {
			return fmt.Errorf("%s: %v", subject.path, object["message"])
		}
		for _, change := range subject.changes {
			to := inNamespace(subject.path) + "/" + name + "?dryRun=All"
			answer, err := s.call(ctx, http.MethodPatch, to, acceptJSON, string(change.kind), change.patch)
			if err != nil {
				return err
			}
			line := patched{Kind: fmt.Sprint(object["kind"]), Object: normalized(object), Type: change.kind, Patch: change.patch}
			if answer["kind"] == "Status" {
				line.Code, line.Reason, line.Message = answer["code"], answer["reason"], sentence(answer)
			} else {
				line.Result = normalized(answer)
			}
			lines = append(lines, line)
		}
	}
	return writeLines(file, lines)
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

func (s server) documents(ctx context.Context, file string) error {
	var lines []document
	for _, group := range documents {
		for _, text := range group.documents {
			answer, err := s.create(ctx, group.path+"?dryRun=All&fieldValidation=Strict", text)
			if err != nil {
				return err
			}
			line := document{APIVersion: group.apiVersion, Kind: group.kind, Document: json.RawMessage(text)}
			if _, mistake, ok := strings.Cut(fmt.Sprint(answer["message"]), " cannot be handled as a "+group.kind+": "); ok {
				line.Mistake = mistake
			}
			lines = append(lines, line)
		}
	}
	return writeLines(file, lines)
}
