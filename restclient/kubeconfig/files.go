package kubeconfig

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orrery/restclient"
	"orrery/restclient/credentials"
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

// searched are the files that were looked for, whether or not they exist.
type searched struct {
	paths    []string
	variable bool // the variable KUBECONFIG names them
	// sum is that of the files before they were read: what is written while they are being read makes another one. Only
	// with Options.Changed.
	sum [sha256.Size]byte
}

func (opts *Options) search(paths []string) searched {
	s := searched{paths: paths}
	if opts.Changed != nil {
		s.sum = sumOfFiles(paths)
	}
	return s
}

// sumOfFiles is different when the files are. Those that cannot be read count as empty.
func sumOfFiles(paths []string) [sha256.Size]byte {
	h := sha256.New()
	for _, path := range paths {
		data, _ := os.ReadFile(path)
		fmt.Fprintf(h, "%d\n", len(data))
		h.Write(data)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Change says that a file has changed while the configuration from it is in use, see Options.Changed.
type Change struct {
	Kind ChangeKind
	Text string // one sentence; nothing secret
}

// ChangeKind tells changes apart.
type ChangeKind string

const (
	// CredentialsRenewed: there are other credentials for the same user name, and they are used from now on.
	CredentialsRenewed ChangeKind = "CredentialsRenewed"
	// AuthorityRenewed: there is another certificate authority for the same server, and it is used from now on.
	AuthorityRenewed ChangeKind = "AuthorityRenewed"
	// NotFollowed: something else is different, such as the server. What was loaded stays in use; a restart follows it.
	NotFollowed ChangeKind = "NotFollowed"
	// Unusable: the file cannot be used as it is now. What was loaded stays in use.
	Unusable ChangeKind = "Unusable"
)

// DefaultServiceAccountDir is where the kubelet puts the service account of a pod: token, ca.crt and namespace.
const DefaultServiceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

const (
	serviceHostVariable = "KUBERNETES_SERVICE_HOST"
	servicePortVariable = "KUBERNETES_SERVICE_PORT"
)

// inCluster reports whether this is a pod: the kubelet sets these variables in every container.
func inCluster(opts Options) bool {
	return opts.getenv(serviceHostVariable) != "" && opts.getenv(servicePortVariable) != ""
}

// loadInCluster uses the service account of the pod. Token and CA are read again when the kubelet renews them.
func loadInCluster(opts Options, info *Info) (restclient.Config, error) {
	dir := opts.ServiceAccountDir
	if dir == "" {
		dir = DefaultServiceAccountDir
	}
	token, err := credentials.NewTokenFile(credentials.TokenFileConfig{Path: filepath.Join(dir, "token")})
	if err != nil {
		return restclient.Config{}, &InClusterError{Err: err}
	}
	caFile := filepath.Join(dir, "ca.crt")
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return restclient.Config{}, &InClusterError{Err: err}
	}
	if !hasCertificate(ca) {
		return restclient.Config{}, &InClusterError{Err: fmt.Errorf("%s holds no PEM certificate", caFile)}
	}
	info.InCluster = true
	if namespace, err := os.ReadFile(filepath.Join(dir, "namespace")); err == nil && len(namespace) > 0 {
		info.Namespace = strings.TrimSpace(string(namespace))
	}
	return restclient.Config{
		Host:        "https://" + net.JoinHostPort(opts.getenv(serviceHostVariable), opts.getenv(servicePortVariable)),
		TLS:         restclient.TLS{CAFile: caFile},
		Credentials: token,
	}, nil
}
