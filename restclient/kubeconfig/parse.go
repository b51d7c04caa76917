package kubeconfig

import (
	"encoding/base64"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is a kubeconfig as in the file, with lists of named entries instead of maps.
type document struct {
	APIVersion     string         `yaml:"apiVersion"`
	Kind           string         `yaml:"kind"`
	CurrentContext string         `yaml:"current-context"`
	Clusters       []namedCluster `yaml:"clusters"`
	Contexts       []namedContext `yaml:"contexts"`
	Users          []namedUser    `yaml:"users"`
}

type namedCluster struct {
	Name    string  `yaml:"name"`
	Cluster Cluster `yaml:"cluster"`
}

type namedContext struct {
	Name    string  `yaml:"name"`
	Context Context `yaml:"context"`
}

type namedUser struct {
	Name string `yaml:"name"`
	User User   `yaml:"user"`
}

// Parse reads a kubeconfig in YAML or JSON. path is its source, for error texts; it may be empty.
// Unknown fields are ignored, paths are left as they are. An empty text is an empty Config. Every
// error is a [*ParseError].
func Parse(text []byte, path string) (*Config, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, yamlError(path, err, "the YAML is malformed: correct it there or further down")
	}
	if root.Kind == 0 { // only white space and comments
		return newConfig(), nil
	}
	content := root.Content[0]
	if content.ShortTag() == "!!null" {
		return newConfig(), nil
	}
	if content.Kind != yaml.MappingNode {
		return nil, &ParseError{Path: path, Line: content.Line, Problem: "this is not a kubeconfig, which begins with \"apiVersion: v1\" and \"kind: Config\""}
	}
	var doc document
	if err := content.Decode(&doc); err != nil {
		return nil, yamlError(path, err, "a value has the wrong type, or a field is set twice: correct it there")
	}
	if doc.Kind != "" && doc.Kind != "Config" || doc.APIVersion != "" && doc.APIVersion != "v1" {
		return nil, &ParseError{Path: path, Problem: "this is not a kubeconfig of kind Config and apiVersion v1"}
	}
	return doc.config(path)
}

func newConfig() *Config {
	return &Config{Clusters: map[string]*Cluster{}, Users: map[string]*User{}, Contexts: map[string]*Context{}}
}

func (doc *document) config(path string) (*Config, error) {
	cfg := newConfig()
	cfg.CurrentContext = doc.CurrentContext
	for _, c := range doc.Clusters {
		c.Cluster.file = path
		if err := addEntry(cfg.Clusters, "cluster", c.Name, c.Cluster, path); err != nil {
			return nil, err
		}
	}
	for _, u := range doc.Users {
		u.User.file = path
		if err := addEntry(cfg.Users, "user", u.Name, u.User, path); err != nil {
			return nil, err
		}
	}
	for _, c := range doc.Contexts {
		c.Context.file = path
		if err := addEntry(cfg.Contexts, "context", c.Name, c.Context, path); err != nil {
			return nil, err
		}
	}
	return cfg, nil
}

func addEntry[E any](entries map[string]*E, kind, name string, entry E, path string) error {
	if entries[name] != nil {
		return &ParseError{Path: path, Problem: fmt.Sprintf("the %s %q is defined twice: remove one", kind, name)}
	}
	entries[name] = &entry
	return nil
}

// dataError is the error of Data.UnmarshalYAML.
type dataError struct{ line int }

func (e *dataError) Error() string { return "not base64" }

// UnmarshalYAML reads base64, with or without line breaks.
func (d *Data) UnmarshalYAML(node *yaml.Node) error {
	if node.ShortTag() == "!!null" {
		return nil
	}
	text := strings.Join(strings.Fields(node.Value), "")
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil || node.Kind != yaml.ScalarNode {
		return &dataError{node.Line}
	}
	*d = decoded
	return nil
}
