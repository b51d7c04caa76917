package kubeconfig

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orrery/restclient"
	"orrery/restclient/credentials"
)

// ReadFile parses a file. Its relative paths are relative to its directory. The error is a
// [*credentials.FileError] or a [*ParseError].
func ReadFile(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &credentials.FileError{Path: path, What: "kubeconfig", Err: err}
	}
	cfg, err := Parse(text, path)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, &credentials.FileError{Path: path, What: "kubeconfig", Err: err}
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
		// A bare name is looked up in PATH, as in a shell.
		if user.Exec != nil && strings.ContainsRune(user.Exec.Command, filepath.Separator) {
			resolve(&user.Exec.Command)
		}
	}
}

// Merge adds the entries of other that cfg does not define: whole entries, never single fields. So
// the first of several files wins.
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

// DefaultServiceAccountDir is where the kubelet mounts the service account of a pod: token, ca.crt
// and namespace.
const DefaultServiceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

const (
	serviceHostVariable = "KUBERNETES_SERVICE_HOST"
	servicePortVariable = "KUBERNETES_SERVICE_PORT"
)

// inCluster reports whether the program runs in a pod: the kubelet sets these variables in every
// container.
func inCluster() bool {
	return os.Getenv(serviceHostVariable) != "" && os.Getenv(servicePortVariable) != ""
}

// loadInCluster uses the service account of the pod. Token and CA are read again when the kubelet
// renews them.
func loadInCluster(opts Options, info *Info) (restclient.Config, error) {
	dir := opts.ServiceAccountDir
	if dir == "" {
		dir = DefaultServiceAccountDir
	}
	token, err := credentials.NewTokenFile(credentials.TokenFileConfig{Path: filepath.Join(dir, "token")})
	if err != nil {
		return restclient.Config{}, podError(err)
	}
	caFile := filepath.Join(dir, "ca.crt")
	if _, err := os.Stat(caFile); err != nil {
		return restclient.Config{}, podError(err)
	}
	info.InCluster = true
	if namespace, err := os.ReadFile(filepath.Join(dir, "namespace")); err == nil && len(namespace) > 0 {
		info.Namespace = strings.TrimSpace(string(namespace))
	}
	var impersonation restclient.Credentials
	if opts.As != "" {
		impersonation = &credentials.Impersonation{UserName: opts.As, Groups: opts.AsGroups}
	}
	return restclient.Config{
		Host:        "https://" + net.JoinHostPort(os.Getenv(serviceHostVariable), os.Getenv(servicePortVariable)),
		TLS:         restclient.TLS{CAFile: caFile},
		Credentials: credentials.Join(token, impersonation),
	}, nil
}
