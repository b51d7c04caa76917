package serve

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"

	"orrery/internal/lab/apiserver"
	"orrery/restclient/kubeconfig"
)

// serveOptions are the flags of "lab serve".
type serveOptions struct {
	listen        string
	kubeconfigOut string
	force         bool
	faults        []string
	insecureHTTP  bool
	nodes         int
	verbosity     int
}

func (o *serveOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "the `address` to listen on; port 0 is a free one")
	flags.StringVar(&o.kubeconfigOut, "kubeconfig-out", "", "the `file` to write the kubeconfig to, "+
		"readable only by its owner and removed at the end; default: a temporary file")
	flags.BoolVar(&o.force, "force", false,
		"overwrite the file of --kubeconfig-out even if it is not one of this command's")
	flags.StringArrayVar(&o.faults, "fault", nil,
		"a `fault` that is active from the start (see: lab help faults); may be repeated")
	flags.BoolVar(&o.insecureHTTP, "insecure-http", false,
		"serve plain HTTP and treat every request as the administrator's; loopback only")
	flags.IntVar(&o.nodes, "nodes", 1, "how many nodes the built-in kubelet simulates; 0: pods stay Pending")
	flags.IntVarP(&o.verbosity, "v", "v", 0,
		"how much to log: 1 each answered request, 2 also the beginning of each request")
}

// check refuses invalid and dangerous values.
func (o *serveOptions) check() error {
	host, port, err := net.SplitHostPort(o.listen)
	if err != nil {
		return fmt.Errorf("--listen must be an address with a port, such as 127.0.0.1:6443, not %q", o.listen)
	}
	if number, err := strconv.Atoi(port); err != nil || number < 0 || number > 65535 {
		return fmt.Errorf("--listen must have a port from 0 to 65535, not %q", port)
	}
	switch {
	case !isLoopback(host) && o.insecureHTTP:
		return fmt.Errorf("--insecure-http is for the loopback interface, and --listen=%s is open to others: "+
			"leave one of them out", o.listen)
	case o.nodes < 0:
		return fmt.Errorf("--nodes must not be negative, it is %d", o.nodes)
	case o.verbosity < 0:
		return fmt.Errorf("-v must not be negative, it is %d", o.verbosity)
	}
	return nil
}

// isLoopback reports whether only this machine can reach an address. The only name it accepts is
// localhost.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// config returns the configuration that the flags describe.
func (o *serveOptions) config() apiserver.Config {
	return apiserver.Config{
		Listen: o.listen, TLS: !o.insecureHTTP, Unprotected: o.insecureHTTP, Nodes: o.nodes, NoKubelet: o.nodes == 0,
	}
}

// PlaceKubeconfig writes the kubeconfig to the path, or to a new directory if there is none. It
// overwrites no file but an empty one and that of another server of this kind, unless force is set:
// the path may be ~/.kube/config. remove removes what was written, unless another server has
// written there since.
func PlaceKubeconfig(server *apiserver.Server, path string, force bool) (written string, remove func(), err error) {
	if path == "" {
		directory, err := os.MkdirTemp("", "orrery-")
		if err != nil {
			return "", nil,
				fmt.Errorf("the kubeconfig cannot be written: %w; choose a place with --kubeconfig-out", err)
		}
		path, remove = filepath.Join(directory, "kubeconfig"), func() { os.RemoveAll(directory) }
	} else if !force && !mayOverwrite(path) {
		return "", nil,
			fmt.Errorf("%s exists and is not a kubeconfig of \"lab serve\"; choose another place with "+
				"--kubeconfig-out, or overwrite it with --force", path)
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if remove == nil {
		remove = func() {
			if config, ok := ownKubeconfig(path); ok && config.Clusters[config.CurrentContext].Server == server.URL() {
				os.Remove(path)
			}
		}
	}
	if err := server.WriteKubeconfig(path); err != nil {
		remove()
		return "", nil,
			fmt.Errorf("the kubeconfig cannot be written: %w; choose another place with --kubeconfig-out", err)
	}
	return path, remove, nil
}

// mayOverwrite reports whether nothing is lost if a file is overwritten.
func mayOverwrite(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return true // there is none, or writing says what is wrong
	}
	_, own := ownKubeconfig(path)
	return own || info.Mode().IsRegular() && info.Size() == 0
}

// ownKubeconfig reads a kubeconfig; ok reports whether there is nothing in it but what a server has
// written.
func ownKubeconfig(path string) (config *kubeconfig.Config, ok bool) {
	config, err := kubeconfig.ReadFile(path)
	if err != nil || len(config.Clusters) != 1 || len(config.Users) != 1 || len(config.Contexts) != 1 {
		return nil, false
	}
	cluster := config.Clusters[config.CurrentContext]
	return config, cluster != nil && apiserver.Wrote(cluster)
}
