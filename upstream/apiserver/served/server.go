package served

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"orrery/upstream/controlplane"
)

// ProgramName is how log files and errors call the server.
const ProgramName = "lab-serve"

// startTimeout bounds each wait for a process to become ready, for callers whose context has no deadline. A process that dies
// ends the wait at once; this is for one that hangs, and not for a machine that has many others to serve.
const startTimeout = 10 * time.Minute

// Server is a running "lab serve" with what was started beside it. Its methods may be called from any goroutine.
type Server struct {
	config  Config
	dir     string       // removed by Stop
	client  *http.Client // the administrator's
	address string       // "https://127.0.0.1:6443"

	watching sync.WaitGroup
	failed   chan struct{} // closed when err is set

	mu        sync.Mutex // guards the fields below
	processes []*controlplane.Process
	users     int   // kubeconfig files written for users
	err       error // the first unexpected end of a process
}

// Start runs the server and returns when it is ready. The context bounds the start only; to end it call Stop. When Start
// fails it has stopped everything.
func Start(ctx context.Context, config Config) (*Server, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	s := &Server{config: config, failed: make(chan struct{})}
	if s.dir, err = os.MkdirTemp("", "orrery-served-"); err != nil {
		return nil, fmt.Errorf("%s: %w", ProgramName, err)
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", ProgramName, err), s.Stop())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	args := append([]string{"serve", "--kubeconfig-out=" + s.Kubeconfig()}, s.config.Args...)
	if err := s.launch(ProgramName, s.config.Binary, args); err != nil {
		return err
	}
	if err := s.await(ctx, s.connect); err != nil {
		return err
	}
	if err := s.await(ctx, func(ctx context.Context) error { return s.get(ctx, "/readyz") }); err != nil {
		return err
	}
	if len(s.config.Controllers) == 0 {
		return nil
	}
	return s.startControllers(ctx)
}

// connect reads the kubeconfig file that the server has written when it listens.
func (s *Server) connect(context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig())
	if err != nil {
		return err
	}
	s.address = config.Host
	s.client, err = rest.HTTPClientFor(config)
	return err
}

// startControllers runs kube-controller-manager with the controllers that were asked for.
func (s *Server) startControllers(ctx context.Context) error {
	bundle, err := s.writeBundle()
	if err != nil {
		return err
	}
	err = s.launch(controlplane.ControllerManager, s.config.ControlPlane, []string{
		controlplane.ControllerManager,
		"--kubeconfig=" + s.Kubeconfig(),
		"--controllers=" + strings.Join(s.config.Controllers, ","),
		"--root-ca-file=" + bundle,
		"--leader-elect=false",
		"--secure-port=0",
	})
	if err != nil {
		return err
	}
	// That the default namespace has been filled proves that the controllers work.
	for controller, path := range map[string]string{
		"serviceaccount-controller":                "/api/v1/namespaces/default/serviceaccounts/default",
		"root-ca-certificate-publisher-controller": "/api/v1/namespaces/default/configmaps/kube-root-ca.crt",
	} {
		if !strings.Contains(strings.Join(s.config.Controllers, ","), controller) {
			continue
		}
		if err := s.await(ctx, func(ctx context.Context) error { return s.get(ctx, path) }); err != nil {
			return err
		}
	}
	return nil
}

// writeBundle writes the certificate of the server's authority to a file of its own and returns its path.
func (s *Server) writeBundle() (string, error) {
	config, err := clientcmd.LoadFromFile(s.Kubeconfig())
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.dir, "ca.crt")
	return path, os.WriteFile(path, config.Clusters[config.Contexts[config.CurrentContext].Cluster].CertificateAuthorityData, 0o600)
}

// launch starts a process and watches over it.
func (s *Server) launch(name, path string, args []string) error {
	process, err := controlplane.StartProcess(controlplane.ProcessConfig{Name: name, Path: path, Args: args, LogFile: s.LogFile(name)})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.processes = append(s.processes, process)
	s.mu.Unlock()
	s.watching.Go(func() {
		<-process.Done()
		if err := process.Err(); err != nil {
			s.fail(err)
		}
	})
	return nil
}

func (s *Server) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(s.config.Log, err)
	if s.err == nil {
		s.err = err
		close(s.failed)
	}
}

// await calls ready until it returns nil, gives up when a process dies or ctx is done, and then tells what ready missed.
func (s *Server) await(ctx context.Context, ready func(context.Context) error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.failed:
			return s.Err()
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w; the last lines that it printed:\n%s", err, s.last().Tail())
		case <-tick.C:
		}
	}
}

func (s *Server) last() *controlplane.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.processes[len(s.processes)-1]
}

// Kubeconfig is the path of the administrator's kubeconfig file, the one that the server itself has written.
func (s *Server) Kubeconfig() string { return filepath.Join(s.dir, "admin.kubeconfig") }

// KubeconfigFor writes a kubeconfig file with which the administrator acts in the name of a user, and returns its path.
// Each call makes a new file. Here every user may do everything, unless a fault forbids it; see [Server.Add].
func (s *Server) KubeconfigFor(user string, groups ...string) (string, error) {
	config, err := clientcmd.LoadFromFile(s.Kubeconfig())
	if err != nil {
		return "", fmt.Errorf("kubeconfig for %s: %w", user, err)
	}
	account := config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo]
	account.Impersonate, account.ImpersonateGroups = user, groups
	s.mu.Lock()
	s.users++
	path := filepath.Join(s.dir, fmt.Sprintf("user-%d.kubeconfig", s.users))
	s.mu.Unlock()
	return path, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: config.Clusters, AuthInfos: config.AuthInfos, Contexts: config.Contexts, CurrentContext: config.CurrentContext,
	}, path)
}

// LogFile is the path of the file with all that a program has printed. Whoever runs one beside the server may have it
// print to such a file, which Stop removes.
func (s *Server) LogFile(name string) string { return filepath.Join(s.dir, name+".log") }

// Failed is closed when a process ends without having been asked to; Err tells which.
func (s *Server) Failed() <-chan struct{} { return s.failed }

// Err is the first unexpected end of a process, a [*controlplane.ExitError], or nil.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// PID is the process number of the server.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.processes[0].PID()
}

// Stop ends the processes, the server last, and removes what they have written. It returns what Err returns. Stopping
// twice is harmless.
func (s *Server) Stop() error {
	s.mu.Lock()
	processes := s.processes
	s.mu.Unlock()
	for i := len(processes) - 1; i >= 0; i-- {
		processes[i].Stop(context.Background())
	}
	s.watching.Wait()
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
	return errors.Join(s.Err(), os.RemoveAll(s.dir))
}
