package kubeconfig

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"orrery/restclient"
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

	ServiceAccountDir string // replaces DefaultServiceAccountDir
}

// Info describes the source of a configuration.
type Info struct {
	Files     []string // the files read, in order; empty inside a pod
	InCluster bool     // the service account of the pod is used
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

// Load finds the configuration and returns it for restclient.New. It sets Host, TLS, Credentials,
// Proxy and DisableCompression.
//
// Info is never nil; beside an error it holds what was found before it. The error is a
// [*credentials.FileError], [*ParseError], [*NoConfigError] or [*Error], and its text is a sentence for the
// user.
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
	case inCluster():
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
	info.Context = opts.Context
	if info.Context == "" {
		info.Context = cfg.CurrentContext
	}
	context := cfg.Contexts[info.Context]
	if context == nil {
		known := slices.Sorted(maps.Keys(cfg.Contexts))
		return nil, contextError(info.Context, known, info.Files)
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
		return entryError("context", info.Context, context.file, problem, nil)
	}
	if cluster == nil {
		return nil, undefined("cluster", context.Cluster)
	}
	if user == nil && context.User != "" {
		return nil, undefined("user", context.User)
	}
	if user == nil {
		user = &User{}
	}
	if opts.As != "" {
		impersonating := *user
		impersonating.Impersonate, impersonating.ImpersonateGroups = opts.As, opts.AsGroups
		impersonating.ImpersonateUID, impersonating.ImpersonateUserExtra = "", nil
		user = &impersonating
	}
	return &loader{info: info, cluster: cluster, user: user}, nil
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
	cfg.Host, cfg.DisableCompression = server.String(), l.cluster.DisableCompression
	if cfg.Proxy, err = l.proxy(); err != nil {
		return cfg, err
	}
	cfg.TLS = l.tls()
	cfg.Credentials, err = l.credentials(server)
	return cfg, err
}

func (l *loader) clusterError(problem string, err error) error {
	return entryError("cluster", l.info.Cluster, l.cluster.file, problem, err)
}

func (l *loader) userError(problem string, err error) error {
	return entryError("user", l.info.User, l.user.file, problem, err)
}
