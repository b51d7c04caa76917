package kubeconfig

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Config is the content of one kubeconfig file, or of several that have been merged.
type Config struct {
	// CurrentContext is the name of the context that is used by default. May be empty.
	CurrentContext string

	Clusters map[string]*Cluster
	Users    map[string]*User
	Contexts map[string]*Context
}

// Cluster says where an API server is and how it proves its identity.
type Cluster struct {
	Server                   string      `yaml:"server"`
	TLSServerName            string      `yaml:"tls-server-name,omitempty"`
	InsecureSkipTLSVerify    bool        `yaml:"insecure-skip-tls-verify,omitempty"`
	CertificateAuthority     string      `yaml:"certificate-authority,omitempty"` // a file
	CertificateAuthorityData Data        `yaml:"certificate-authority-data,omitempty"`
	ProxyURL                 Secret      `yaml:"proxy-url,omitempty"` // may contain a password
	DisableCompression       bool        `yaml:"disable-compression,omitempty"`
	Extensions               []Extension `yaml:"extensions,omitempty"`

	file string // its source
}

// User holds the credentials of a user.
type User struct {
	Token                 Secret              `yaml:"token,omitempty"`
	TokenFile             string              `yaml:"tokenFile,omitempty"`
	ClientCertificate     string              `yaml:"client-certificate,omitempty"` // a file
	ClientCertificateData Data                `yaml:"client-certificate-data,omitempty"`
	ClientKey             string              `yaml:"client-key,omitempty"` // a file
	ClientKeyData         Data                `yaml:"client-key-data,omitempty"`
	Username              string              `yaml:"username,omitempty"`
	Password              Secret              `yaml:"password,omitempty"`
	Impersonate           string              `yaml:"as,omitempty"`
	ImpersonateUID        string              `yaml:"as-uid,omitempty"`
	ImpersonateGroups     []string            `yaml:"as-groups,omitempty"`
	ImpersonateUserExtra  map[string][]string `yaml:"as-user-extra,omitempty"`
	Exec                  *Exec               `yaml:"exec,omitempty"`
	AuthProvider          *AuthProvider       `yaml:"auth-provider,omitempty"`

	file string // its source
}

// Exec describes an exec credential plugin.
type Exec struct {
	APIVersion         string    `yaml:"apiVersion"`
	Command            string    `yaml:"command"`
	Args               []Secret  `yaml:"args"`
	Env                []ExecEnv `yaml:"env"`
	InstallHint        string    `yaml:"installHint,omitempty"`
	InteractiveMode    string    `yaml:"interactiveMode,omitempty"`
	ProvideClusterInfo bool      `yaml:"provideClusterInfo"`
}

// Format shows the command, whatever the verb: without it, a verb that does not fit makes fmt print
// the fields raw.
func (e *Exec) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "[exec plugin %s]", e.Command) }

// ExecEnv is an environment variable for an exec plugin.
type ExecEnv struct {
	Name  string `yaml:"name"`
	Value Secret `yaml:"value"`
}

// AuthProvider names a plugin of a kind that was once compiled into kubectl. None is supported.
type AuthProvider struct {
	Name string `yaml:"name"`
}

// Context joins a cluster, a user and a namespace.
type Context struct {
	Cluster   string `yaml:"cluster"`
	User      string `yaml:"user"`
	Namespace string `yaml:"namespace,omitempty"`

	file string // its source
}

// Extension is something that another program keeps with a cluster.
type Extension struct {
	Name      string `yaml:"name"`
	Extension any    `yaml:"extension"`
}

// Data holds the bytes that stand in the file in base64. fmt and encoding/json show only how many
// there are.
type Data []byte

// MarshalYAML writes base64.
func (d Data) MarshalYAML() (any, error) { return base64.StdEncoding.EncodeToString(d), nil }

func (d Data) String() string { return fmt.Sprintf("[%d bytes]", len(d)) }

func (d Data) Format(f fmt.State, _ rune) { io.WriteString(f, d.String()) }

func (d Data) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// Secret is a string that fmt and encoding/json do not show.
type Secret string

const redacted = "[redacted]"

// String hides everything but emptiness.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// Single returns a kubeconfig with one cluster, one user and one context, which is the current one,
// all of the same name.
func Single(name string, cluster Cluster, user User, namespace string) *Config {
	return &Config{
		CurrentContext: name,
		Clusters:       map[string]*Cluster{name: &cluster},
		Users:          map[string]*User{name: &user},
		Contexts:       map[string]*Context{name: {Cluster: name, User: name, Namespace: namespace}},
	}
}

// Marshal writes the configuration in YAML, entries sorted by name.
func (cfg *Config) Marshal() ([]byte, error) {
	doc := document{APIVersion: "v1", Kind: "Config", CurrentContext: cfg.CurrentContext}
	for _, name := range slices.Sorted(maps.Keys(cfg.Clusters)) {
		doc.Clusters = append(doc.Clusters, namedCluster{name, *cfg.Clusters[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Contexts)) {
		doc.Contexts = append(doc.Contexts, namedContext{name, *cfg.Contexts[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Users)) {
		doc.Users = append(doc.Users, namedUser{name, *cfg.Users[name]})
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(doc); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// WriteFile writes the configuration to a file that only its owner may read, whatever was there
// before. A reader sees the old content or the new, never a part. Missing directories are made,
// also for the owner alone.
func (cfg *Config) WriteFile(path string) error {
	text, err := cfg.Marshal()
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails after the rename, as it should
	_, err = temp.Write(text)
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

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
		return nil, &ParseError{Path: path, Line: content.Line,
			Problem: "this is not a kubeconfig, which begins with \"apiVersion: v1\" and \"kind: Config\""}
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
