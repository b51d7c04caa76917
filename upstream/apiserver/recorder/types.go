package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
	"orrery/upstream/controlplane"
)

const namespace = "orrery-types"

// recordTypes sends manifests to the server and records what it stores, refuses and shows in a
// table. It reads cases/*.yaml (all, or the named ones) and writes recorded/*.json. A case creates
// an object, and each step updates the object or a subresource by a JSON merge patch that is
// applied here to the last stored object. Objects are in the namespace orrery-types, or have names
// with that prefix, and are deleted after their case. managedFields are left out.
func recordTypes(ctx context.Context, o order) error {
	server, err := start(ctx, controlplane.Config{})
	if err != nil {
		return err
	}
	defer server.Stop()
	s := typeRecorder{ctx, server}
	if err := s.makeNamespace(); err != nil {
		return err
	}
	dir := filepath.Join(root, "resources", "testdata")
	files, err := filepath.Glob(filepath.Join(dir, "cases", "*.yaml"))
	if err != nil {
		return err
	}
	var failures []error
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if !o.wants(name) {
			continue
		}
		if err := s.recordFile(file, filepath.Join(dir, "recorded", name+".json")); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(failures...)
}

type typeRecorder struct {
	ctx    context.Context
	server server
}

// call sends a request and returns the answer without what is not compared.
func (s typeRecorder) call(method, path, accept string, body map[string]any) (map[string]any, error) {
	text := ""
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		text = string(data)
	}
	var answer map[string]any
	_, err := s.server.send(s.ctx, method, path, accept, acceptJSON, text, &answer)
	if metadata, ok := answer["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	dropDescriptions(answer)
	return answer, err
}

// dropDescriptions removes the columns' descriptions from a table: they are the original's, and are
// not compared.
func dropDescriptions(answer map[string]any) {
	columns, _ := answer["columnDefinitions"].([]any)
	for _, column := range columns {
		if fields, ok := column.(map[string]any); ok {
			delete(fields, "description")
		}
	}
}

const acceptTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

// makeNamespace creates the namespace and waits for its service account, which pods need.
func (s typeRecorder) makeNamespace() error {
	if _, err := s.call("POST", "/api/v1/namespaces", acceptJSON,
		map[string]any{"metadata": map[string]any{"name": namespace}}); err != nil {
		return err
	}
	for range 100 {
		account, err := s.call("GET", "/api/v1/namespaces/"+namespace+"/serviceaccounts/default", acceptJSON, nil)
		if err != nil {
			return err
		}
		if account["kind"] == "ServiceAccount" {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("the namespace has no service account: is kube-controller-manager running?")
}

func (s typeRecorder) recordFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var file File
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		return err
	}
	for i := range file.Cases {
		if err := s.record(&file, &file.Cases[i]); err != nil {
			return fmt.Errorf("%s: %w", file.Cases[i].Name, err)
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(file); err != nil {
		return err
	}
	return os.WriteFile(to, out.Bytes(), 0o644)
}

func (s typeRecorder) record(file *File, c *Case) error {
	collection := file.path()
	var err error
	if c.Answer, err = s.call("POST", collection, acceptJSON, c.Create); err != nil {
		return err
	}
	if c.Answer["kind"] == "Status" {
		return nil
	}
	name, _ := c.Answer["metadata"].(map[string]any)["name"].(string)
	address := collection + "/" + name
	for i := range c.Steps {
		step := &c.Steps[i]
		if step.Before, err = s.call("GET", address, acceptJSON, nil); err != nil {
			return err
		}
		target := address
		if step.Subresource != "" {
			target += "/" + step.Subresource
		}
		next, err := merged(step.Before, step.Update)
		if err != nil {
			return err
		}
		if step.Answer, err = s.call("PUT", target, acceptJSON, next); err != nil {
			return err
		}
	}
	c.Now = time.Now().UTC().Format(time.RFC3339)
	if c.Table, err = s.call("GET", address+"?includeObject=None", acceptTable, nil); err != nil {
		return err
	}
	return s.remove(address)
}

// remove deletes an object at once, with or without finalizers.
func (s typeRecorder) remove(address string) error {
	deletion := map[string]any{"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0,
		"propagationPolicy": "Background"}
	answer, err := s.call("DELETE", address, acceptJSON, deletion)
	if err != nil {
		return err
	}
	if metadata, ok := answer["metadata"].(map[string]any); !ok || metadata["finalizers"] == nil {
		return nil
	}
	object, err := s.call("GET", address, acceptJSON, nil)
	if err != nil || object["kind"] == "Status" {
		return err
	}
	free, err := merged(object, map[string]any{"metadata": map[string]any{"finalizers": nil, "resourceVersion": nil}})
	if err != nil {
		return err
	}
	_, err = s.call("PUT", address, acceptJSON, free)
	return err
}

// path returns the path of the collection.
func (f *File) path() string {
	prefix := "/apis/"
	if strings.Count(f.Resource, "/") == 1 {
		prefix = "/api/"
	}
	at := strings.LastIndex(f.Resource, "/")
	if f.Namespaced {
		return prefix + f.Resource[:at] + "/namespaces/" + namespace + f.Resource[at:]
	}
	return prefix + f.Resource
}

// merged applies a JSON merge patch to a copy of a document.
func merged(document, patch map[string]any) (map[string]any, error) {
	text, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	return resources.ApplyPatch(api.MergePatchType, document, text, nil)
}

// File holds the cases of one resource.
type File struct {
	// Resource is "version/plural" or "group/version/plural".
	Resource string `json:"resource"`
	// Namespaced reports whether the objects have a namespace.
	Namespaced bool   `json:"namespaced,omitempty"`
	Cases      []Case `json:"cases"`
}

// Case is an object with its updates and the answers.
type Case struct {
	Name string `json:"name"`
	// Create is the manifest; kind and apiVersion default to the file's.
	Create map[string]any `json:"create"`
	// Answer is the stored object, or the Status of a refusal.
	Answer map[string]any `json:"answer,omitempty"`
	Steps  []Step         `json:"steps,omitempty"`
	// Table is the object as a table after the last step, at the time Now.
	Table map[string]any `json:"table,omitempty"`
	Now   string         `json:"now,omitempty"`
}

// Step is an update.
type Step struct {
	// Subresource is "" for the object itself.
	Subresource string `json:"subresource,omitempty"`
	// Before is the stored object at the start of the step, with the changes of controllers.
	Before map[string]any `json:"before,omitempty"`
	// Update is a JSON merge patch on Before.
	Update map[string]any `json:"update"`
	// Answer is the stored object, or the Status of a refusal.
	Answer map[string]any `json:"answer,omitempty"`
}
