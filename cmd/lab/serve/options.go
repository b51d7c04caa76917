package serve

import (
	"encoding/csv"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/apiserver"
	"orrery/internal/observe/logs"
	"orrery/restclient/kubeconfig"
)

// serveOptions are the flags of "lab serve". Those of kube-apiserver have the same name and
// meaning.
type serveOptions struct {
	name          string
	listen        string
	kubeconfigOut string
	force         bool
	faults        []string

	insecureHTTP  bool
	anonymousAuth bool
	tokenFile     string

	history   int
	nodes     int
	collector bool

	shutdownTimeout time.Duration
	logFormat       string
	verbosity       int
}

func (o *serveOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "the `address` to listen on; port 0 is a free one")
	flags.StringVar(&o.name, "name", "", "the `name` of the kubeconfig's cluster, user and context; default: orrery- and the port")
	flags.StringVar(&o.kubeconfigOut, "kubeconfig-out", "", "the `file` to write the kubeconfig to, readable only by its owner and removed at the end; default: a temporary file")
	flags.BoolVar(&o.force, "force", false, "overwrite the file of --kubeconfig-out even if it is not one of this command's")
	flags.StringArrayVar(&o.faults, "fault", nil, "a `fault` that is active from the start (see: lab help faults); may be repeated")

	flags.BoolVar(&o.insecureHTTP, "insecure-http", false, "serve plain HTTP and treat every request as the administrator's; loopback only")
	flags.BoolVar(&o.anonymousAuth, "anonymous-auth", false, "answer requests without credentials with 403 instead of 401, as most clusters do")
	flags.StringVar(&o.tokenFile, "token-auth-file", "", "a CSV `file` of further bearer tokens: token,user,uid,\"group1,group2\"")

	flags.IntVar(&o.history, "history", 0, "how many events of each resource are kept for watches that resume; 0: 10000")
	flags.IntVar(&o.nodes, "nodes", 1, "how many nodes the built-in kubelet simulates; 0: pods stay Pending")
	flags.BoolVar(&o.collector, "garbage-collector", true, "delete objects whose owners are gone")

	flags.DurationVar(&o.shutdownTimeout, "shutdown-timeout", defaultShutdown, "how long the first Ctrl-C waits for requests in progress")
	flags.StringVar(&o.logFormat, "log-format", string(logs.Text), "text or json")
	flags.IntVarP(&o.verbosity, "v", "v", 0, "how much to log: 1 each answered request, 2 also the beginning of each request")
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
		return fmt.Errorf("--insecure-http is for the loopback interface, and --listen=%s is open to others: leave one of them out", o.listen)
	case o.history < 0:
		return fmt.Errorf("--history must not be negative, it is %d", o.history)
	case o.nodes < 0:
		return fmt.Errorf("--nodes must not be negative, it is %d", o.nodes)
	case o.shutdownTimeout <= 0:
		return fmt.Errorf("--shutdown-timeout must be positive, it is %v", o.shutdownTimeout)
	case o.verbosity < 0:
		return fmt.Errorf("-v must not be negative, it is %d", o.verbosity)
	}
	_, err = logs.ParseFormat(o.logFormat)
	return err
}

// isLoopback reports whether only this machine can reach an address. The only name it accepts is
// localhost.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// config returns the configuration that the flags describe.
func (o *serveOptions) config() (apiserver.Config, error) {
	config := apiserver.Config{
		Name: o.name, Listen: o.listen, TLS: !o.insecureHTTP, Anonymous: o.anonymousAuth, Unprotected: o.insecureHTTP,
		Window: o.history, Nodes: o.nodes, NoKubelet: o.nodes == 0, NoCollector: !o.collector,
	}
	if o.tokenFile != "" {
		tokens, err := readTokens(o.tokenFile)
		if err != nil {
			return apiserver.Config{}, fmt.Errorf("--token-auth-file: %w", err)
		}
		config.Tokens = tokens
	}
	return config, nil
}

// readTokens reads a token file of kube-apiserver. Errors never quote its secret content.
func readTokens(path string) (map[string]apiserver.User, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.FieldsPerRecord = -1
	reader.TrimLeadingSpace = true
	records, err := reader.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s is not a CSV file", path)
	}
	tokens := map[string]apiserver.User{}
	for i, record := range records {
		if len(record) < 3 || record[0] == "" || record[1] == "" {
			return nil, fmt.Errorf("line %d of %s must be token,user,uid and, in quotes, groups", i+1, path)
		}
		user := apiserver.User{Name: record[1], UID: record[2]}
		if len(record) > 3 && record[3] != "" {
			user.Groups = strings.Split(record[3], ",")
		}
		tokens[record[0]] = user
	}
	return tokens, nil
}

// PlaceKubeconfig writes the kubeconfig to the path, or to a new directory if there is none. It
// overwrites no file but an empty one and that of another server of this kind, unless force is set:
// the path may be ~/.kube/config. remove removes what was written, unless another server has
// written there since.
func PlaceKubeconfig(server *apiserver.Server, path string, force bool) (written string, remove func(), err error) {
	if path == "" {
		directory, err := os.MkdirTemp("", "orrery-")
		if err != nil {
			return "", nil, fmt.Errorf("the kubeconfig cannot be written: %w; choose a place with --kubeconfig-out", err)
		}
		path, remove = filepath.Join(directory, "kubeconfig"), func() { os.RemoveAll(directory) }
	} else if !force && !mayOverwrite(path) {
		return "", nil, fmt.Errorf("%s exists and is not a kubeconfig of \"lab serve\"; choose another place with --kubeconfig-out, or overwrite it with --force", path)
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
		return "", nil, fmt.Errorf("the kubeconfig cannot be written: %w; choose another place with --kubeconfig-out", err)
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
