package kubeconfig

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"orrery/restclient/credentials"
)

// Config is the content of one kubeconfig file, or of several that have been merged.
type Config struct {
	CurrentContext string // the name of the context that is used by default; may be empty

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
	CertificateAuthorityData Data        `yaml:"certificate-authority-data,omitempty" json:"-"`
	ProxyURL                 Secret      `yaml:"proxy-url,omitempty" json:"-"` // may contain a password
	Extensions               []Extension `yaml:"extensions,omitempty"`

	file string // where it was read, if there were several files
}

// User holds the credentials of a user.
type User struct {
	Token                 Secret                  `yaml:"token,omitempty" json:"-"`
	TokenFile             string                  `yaml:"tokenFile,omitempty"`
	ClientCertificate     string                  `yaml:"client-certificate,omitempty"` // a file
	ClientCertificateData Data                    `yaml:"client-certificate-data,omitempty" json:"-"`
	ClientKey             string                  `yaml:"client-key,omitempty"` // a file
	ClientKeyData         Data                    `yaml:"client-key-data,omitempty" json:"-"`
	Impersonate           string                  `yaml:"as,omitempty"`
	ImpersonateGroups     []string                `yaml:"as-groups,omitempty"`
	Exec                  *credentials.ExecConfig `yaml:"exec,omitempty"`

	Username             Unsupported `yaml:"username,omitempty"`
	Password             Unsupported `yaml:"password,omitempty"`
	ImpersonateUID       Unsupported `yaml:"as-uid,omitempty"`
	ImpersonateUserExtra Unsupported `yaml:"as-user-extra,omitempty"`
	AuthProvider         Unsupported `yaml:"auth-provider,omitempty"`

	file string
}

// Unsupported reports that a field of kubectl is set whose value this package cannot use. A user
// with such a field is an error: without it, requests could have other rights than intended.
type Unsupported bool

// UnmarshalYAML sets it for any value but an empty one.
func (u *Unsupported) UnmarshalYAML(node *yaml.Node) error {
	*u = node.Value != "" || len(node.Content) > 0
	return nil
}

// Context joins a cluster, a user and a namespace.
type Context struct {
	Cluster   string `yaml:"cluster"`
	User      string `yaml:"user"`
	Namespace string `yaml:"namespace,omitempty"`

	file string
}

// Extension is something that another program keeps with a cluster.
type Extension struct {
	Name      string `yaml:"name"`
	Extension any    `yaml:"extension"`
}

// Data holds the bytes that stand in the file in base64. fmt does not show them.
type Data []byte

// MarshalYAML writes base64.
func (d Data) MarshalYAML() (any, error) { return base64.StdEncoding.EncodeToString(d), nil }

func (d Data) Format(f fmt.State, _ rune) { Secret(d).Format(f, 'v') }

// Secret is a string that fmt does not show, except that it is empty.
type Secret string

func (s Secret) Format(f fmt.State, _ rune) {
	if s != "" {
		io.WriteString(f, "[redacted]")
	}
}

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
		doc.Clusters = append(doc.Clusters, entry{Name: name, Cluster: cfg.Clusters[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Contexts)) {
		doc.Contexts = append(doc.Contexts, entry{Name: name, Context: cfg.Contexts[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Users)) {
		doc.Users = append(doc.Users, entry{Name: name, User: cfg.Users[name]})
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := encoder.Encode(doc)
	return out.Bytes(), err
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
	APIVersion     string  `yaml:"apiVersion"`
	Kind           string  `yaml:"kind"`
	CurrentContext string  `yaml:"current-context"`
	Clusters       []entry `yaml:"clusters"`
	Contexts       []entry `yaml:"contexts"`
	Users          []entry `yaml:"users"`
}

// entry is a named cluster, user or context.
type entry struct {
	Name    string   `yaml:"name"`
	Cluster *Cluster `yaml:"cluster,omitempty"`
	Context *Context `yaml:"context,omitempty"`
	User    *User    `yaml:"user,omitempty"`
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
		return nil, yamlError(path, err,
			"a value has the wrong type or is not base64, or a field is set twice: correct it there")
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
	var err error
	for _, e := range doc.Clusters {
		err = cmp.Or(err, add(cfg.Clusters, "cluster", e.Name, e.Cluster, path))
	}
	for _, e := range doc.Users {
		err = cmp.Or(err, add(cfg.Users, "user", e.Name, e.User, path))
	}
	for _, e := range doc.Contexts {
		err = cmp.Or(err, add(cfg.Contexts, "context", e.Name, e.Context, path))
	}
	return cfg, err
}

// add adds an entry; nil is an empty one.
func add[E any](entries map[string]*E, kind, name string, entry *E, path string) error {
	if entries[name] != nil {
		return &ParseError{Path: path, Problem: fmt.Sprintf("the %s %q is defined twice: remove one", kind, name)}
	}
	entries[name] = cmp.Or(entry, new(E))
	return nil
}

// UnmarshalYAML reads base64, with or without line breaks.
func (d *Data) UnmarshalYAML(node *yaml.Node) error {
	decoded, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(node.Value), ""))
	if err != nil || node.Kind != yaml.ScalarNode {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: not base64", node.Line)}}
	}
	*d = decoded
	return nil
}
