package kubeconfig

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ReadFile parses a file. Relative paths in it are taken to be relative to the directory of the file. The error is a
// [*FileError] or a [*ParseError].
func ReadFile(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &FileError{Path: path, Err: err}
	}
	cfg, err := Parse(text, path)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, &FileError{Path: path, Err: err}
	}
	cfg.resolvePaths(dir)
	return cfg, nil
}

func (cfg *Config) resolvePaths(dir string) {
	resolve := func(path *string) {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
	for _, cluster := range cfg.Clusters {
		resolve(&cluster.CertificateAuthority)
	}
	for _, user := range cfg.Users {
		resolve(&user.TokenFile)
		resolve(&user.ClientCertificate)
		resolve(&user.ClientKey)
		// A bare name is looked up in PATH, as a shell would.
		if user.Exec != nil && strings.ContainsRune(user.Exec.Command, filepath.Separator) {
			resolve(&user.Exec.Command)
		}
	}
}

// Merge adds what other defines and cfg does not: whole entries, never single fields of one. The first of several files
// is therefore the one that counts.
func (cfg *Config) Merge(other *Config) {
	if cfg.CurrentContext == "" {
		cfg.CurrentContext = other.CurrentContext
	}
	mergeEntries(cfg.Clusters, other.Clusters)
	mergeEntries(cfg.Users, other.Users)
	mergeEntries(cfg.Contexts, other.Contexts)
}

func mergeEntries[E any](into, from map[string]*E) {
	for name, entry := range from {
		if _, exists := into[name]; !exists {
			into[name] = entry
		}
	}
}

func (cfg *Config) isEmpty() bool {
	return cfg.CurrentContext == "" && len(cfg.Clusters) == 0 && len(cfg.Users) == 0 && len(cfg.Contexts) == 0
}

// readList merges files in order and skips those that do not exist.
func readList(paths []string) (merged *Config, read []string, err error) {
	merged = newConfig()
	for _, path := range paths {
		cfg, err := ReadFile(path)
		if isNotExist(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		merged.Merge(cfg)
		read = append(read, path)
	}
	return merged, read, nil
}

// listOf splits the value of KUBECONFIG.
func listOf(value string) []string {
	var paths []string
	for _, path := range filepath.SplitList(value) {
		if path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
