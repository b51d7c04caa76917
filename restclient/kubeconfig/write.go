package kubeconfig

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Single returns a kubeconfig with one cluster, one user and one context, which is the current one, all of the same
// name.
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

// WriteFile writes the configuration to a file that only its owner may read, whatever was there before. A reader sees
// the old content or the new, never a part. Missing directories are made, also for the owner alone.
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
