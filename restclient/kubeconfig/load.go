package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orrery/restclient"
	"orrery/restclient/credentials"
)

// Options select a configuration. The zero value is kubectl's behaviour without flags.
type Options struct {
	// Path is the only file to read (--kubeconfig); it must exist. Empty: the files of the variable
	// KUBECONFIG, merged, or $HOME/.kube/config if it is not set; if they are empty, the service
	// account of the pod.
	Path    string
	Context string // the context to use (--context); empty: the current-context of the file
	// As is the user to impersonate (--as), and AsGroups are that user's groups (--as-group). They
	// replace the impersonation in the file. AsGroups without As has no effect.
	As       string
	AsGroups []string

	serviceAccountDir string // replaces that of a pod, in tests
}

// Info describes the source of a configuration.
type Info struct {
	Files     []string // the files read, in order
	Context   string
	Cluster   string
	User      string // may be empty: anonymous
	Namespace string // of the context or the pod; "default" if there is none
	// Warnings are sentences about a configuration that works; nothing in them is secret. A server
	// whose certificate is not verified is not among them: restclient.New warns of it.
	Warnings []string
}

func (i *Info) warn(format string, args ...any) {
	i.Warnings = append(i.Warnings, fmt.Sprintf(format, args...))
}

// Load finds the configuration and returns it for restclient.New. It sets Host, TLS, Credentials
// and Proxy.
//
// Info is never nil; beside an error it holds what was found before it. The text of an error is a
// sentence for the user.
func Load(opts Options) (restclient.Config, *Info, error) {
	info := &Info{Namespace: "default"}
	cfg, searched, err := find(opts, info)
	if err != nil {
		return restclient.Config{}, info, err
	}
	if !cfg.isEmpty() {
		loaded, err := cfg.load(opts, info)
		return loaded, info, err
	}
	switch {
	case opts.Path != "":
		err = &ParseError{Path: opts.Path, Problem: "it is empty, give another file"}
	case opts.Context != "":
		info.Context = opts.Context
		err = contextError(opts.Context, nil, searched)
	case service() != "":
		loaded, err := loadInCluster(opts, info)
		return loaded, info, err
	default:
		err = &NoConfigError{Searched: searched}
	}
	return restclient.Config{}, info, err
}

// find reads the candidate files, and returns their paths, whether or not they exist.
func find(opts Options, info *Info) (cfg *Config, searched []string, err error) {
	if opts.Path != "" {
		cfg, err = ReadFile(opts.Path)
		if err == nil {
			info.Files = []string{opts.Path}
		}
		return cfg, info.Files, err
	}
	searched = listOf(os.Getenv("KUBECONFIG"))
	variable := len(searched) > 0
	if !variable {
		searched = homeFile()
	}
	cfg, info.Files, err = readList(searched)
	if variable && len(info.Files) == 0 && err == nil {
		info.warn("none of the files in the variable KUBECONFIG exists")
	}
	return cfg, searched, err
}

func homeFile() []string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	return []string{filepath.Join(home, ".kube", "config")}
}

// load selects the context and translates its cluster and user.
func (cfg *Config) load(opts Options, info *Info) (restclient.Config, error) {
	l, err := cfg.resolve(opts, info)
	if err != nil {
		return restclient.Config{}, err
	}
	return l.load()
}

// resolve finds the context with its cluster and user.
func (cfg *Config) resolve(opts Options, info *Info) (*loader, error) {
	info.Context = cmp.Or(opts.Context, cfg.CurrentContext)
	context := cfg.Contexts[info.Context]
	if context == nil {
		return nil, contextError(info.Context, slices.Sorted(maps.Keys(cfg.Contexts)), info.Files)
	}
	info.Cluster, info.User = context.Cluster, context.User
	if context.Namespace != "" {
		info.Namespace = context.Namespace
	}
	cluster, user := cfg.Clusters[context.Cluster], cfg.Users[context.User]
	undefined := func(entry, name string) error {
		problem := fmt.Sprintf("names the %s %q, which is not defined: add it or correct the name", entry, name)
		if name == "" {
			problem = "names no " + entry + ": add one"
		}
		return entryError("context", info.Context, context.file, info, problem, nil)
	}
	if cluster == nil {
		return nil, undefined("cluster", context.Cluster)
	}
	if user == nil && context.User != "" {
		return nil, undefined("user", context.User)
	}
	own := User{}
	if user != nil {
		own = *user
	}
	if opts.As != "" {
		own.Impersonate, own.ImpersonateGroups = opts.As, opts.AsGroups
		own.ImpersonateUID, own.ImpersonateUserExtra = false, false
	}
	return &loader{info: info, cluster: cluster, user: &own}, nil
}

// loader translates one cluster and one user.
type loader struct {
	info    *Info
	cluster *Cluster
	user    *User
}

func (l *loader) load() (restclient.Config, error) {
	var cfg restclient.Config
	server, err := l.serverURL()
	if err != nil {
		return cfg, err
	}
	if err := l.checkUser(); err != nil {
		return cfg, err
	}
	cfg.Host = server.String()
	if cfg.Proxy, err = l.proxy(); err != nil {
		return cfg, err
	}
	c := l.cluster
	cfg.TLS = restclient.TLS{CAData: c.CertificateAuthorityData, CAFile: c.CertificateAuthority,
		ServerName: c.TLSServerName, Insecure: c.InsecureSkipTLSVerify}
	cfg.Credentials, err = l.credentials(server)
	return cfg, err
}

func (l *loader) clusterError(problem string, err error) error {
	return entryError("cluster", l.info.Cluster, l.cluster.file, l.info, problem, err)
}

func (l *loader) userError(problem string, err error) error {
	return entryError("user", l.info.User, l.user.file, l.info, problem, err)
}

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

func (cfg *Config) isEmpty() bool {
	return cfg.CurrentContext == "" && len(cfg.Clusters) == 0 && len(cfg.Users) == 0 && len(cfg.Contexts) == 0
}

// readList merges files and skips those that do not exist. The first definition of an entry wins,
// as a whole: the last file is read first.
func readList(paths []string) (merged *Config, read []string, err error) {
	merged = newConfig()
	for _, path := range slices.Backward(paths) {
		cfg, err := ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for _, cluster := range cfg.Clusters {
			cluster.file = path
		}
		for _, user := range cfg.Users {
			user.file = path
		}
		for _, context := range cfg.Contexts {
			context.file = path
		}
		merged.CurrentContext = cmp.Or(cfg.CurrentContext, merged.CurrentContext)
		maps.Copy(merged.Clusters, cfg.Clusters)
		maps.Copy(merged.Users, cfg.Users)
		maps.Copy(merged.Contexts, cfg.Contexts)
		read = append(read, path)
	}
	slices.Reverse(read)
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

// defaultServiceAccountDir is where the kubelet mounts the service account of a pod: token, ca.crt
// and namespace.
const defaultServiceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// service returns the address of the API server in a pod, "" elsewhere: the kubelet sets these
// variables in every container.
func service() string {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return ""
	}
	return net.JoinHostPort(host, port)
}

// loadInCluster uses the service account of the pod. Token and CA are read again when the kubelet
// renews them.
func loadInCluster(opts Options, info *Info) (restclient.Config, error) {
	dir := cmp.Or(opts.serviceAccountDir, defaultServiceAccountDir)
	token, err := credentials.NewTokenFile(filepath.Join(dir, "token"))
	if err != nil {
		return restclient.Config{}, podError(err)
	}
	caFile := filepath.Join(dir, "ca.crt")
	if _, err := os.Stat(caFile); err != nil {
		return restclient.Config{}, podError(err)
	}
	if namespace, err := os.ReadFile(filepath.Join(dir, "namespace")); err == nil && len(namespace) > 0 {
		info.Namespace = strings.TrimSpace(string(namespace))
	}
	as := &User{Impersonate: opts.As, ImpersonateGroups: opts.AsGroups}
	return restclient.Config{
		Host:        "https://" + service(),
		TLS:         restclient.TLS{CAFile: caFile},
		Credentials: credentials.Join(token, as.impersonation()),
	}, nil
}
