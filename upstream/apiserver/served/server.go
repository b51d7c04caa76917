// Package served runs "lab serve", the API server in memory, as a process, with as many of
// kube-controller-manager's controllers as a test needs. [Start] and [Server] are used like those
// of package controlplane; Start returns when the server is ready and the controllers have filled
// the default namespace. What the genuine server does only under mistreatment, such as forgetting
// history, this one does on request: see [Server.Add].
//
// The tests let client-go's informers and kubectl work on it, and need bin/lab;
// kube-controller-manager works on it in package e2e.
package served

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"orrery/upstream/controlplane"
)

// programName is the server's name in log files and errors.
const programName = "lab-serve"

// startTimeout bounds each wait for a process when the context has no deadline. It is for a process
// that hangs: a dead one ends the wait at once, and a busy machine stays below it.
const startTimeout = 10 * time.Minute

// Server is a running "lab serve" with the processes beside it. Its methods but Stop are safe for
// concurrent use.
type Server struct {
	config  Config
	dir     string       // removed by Stop
	client  *http.Client // the administrator's
	address string       // "https://127.0.0.1:6443"

	processes []*controlplane.Process // in the order of their start, "lab serve" first
}

// Start starts the server and returns when it is ready. The context bounds the start only; the
// caller must call Stop. A failed Start has stopped everything.
func Start(ctx context.Context, config Config) (*Server, error) {
	dir, err := os.MkdirTemp("", "orrery-served-")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", programName, err)
	}
	s := &Server{config: config, dir: dir}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", programName, err), s.Stop())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	args := append([]string{"serve", "--kubeconfig-out=" + s.Kubeconfig()}, s.config.Args...)
	if err := s.launch(programName, "lab", args); err != nil {
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

// connect reads the kubeconfig file, which the server writes when it listens.
func (s *Server) connect(context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig())
	if err != nil {
		return err
	}
	s.address = config.Host
	s.client, err = rest.HTTPClientFor(config)
	return err
}

// startControllers runs kube-controller-manager with the configured controllers.
func (s *Server) startControllers(ctx context.Context) error {
	bundle, err := s.writeBundle()
	if err != nil {
		return err
	}
	err = s.launch(controlplane.ControllerManager, "controlplane", []string{
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
	// The default namespace's content proves that the controllers work.
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

// writeBundle writes the server's CA certificate to a file and returns its path.
func (s *Server) writeBundle() (string, error) {
	config, err := clientcmd.LoadFromFile(s.Kubeconfig())
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.dir, "ca.crt")
	return path, os.WriteFile(path,
		config.Clusters[config.Contexts[config.CurrentContext].Cluster].CertificateAuthorityData, 0o600)
}

// launch starts a program of the directory bin.
func (s *Server) launch(name, program string, args []string) error {
	path, err := controlplane.FindUp(filepath.Join("bin", program))
	if err != nil {
		return err
	}
	process, err := controlplane.StartProcess(controlplane.ProcessConfig{
		Name: name, Path: path, Args: args, LogFile: filepath.Join(s.dir, name+".log"),
	})
	if err == nil {
		s.processes = append(s.processes, process)
	}
	return err
}

// await calls ready until it returns nil. It gives up when the process that was started last dies or
// ctx is done, and returns ready's last error.
func (s *Server) await(ctx context.Context, ready func(context.Context) error) error {
	last := s.processes[len(s.processes)-1]
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-last.Done():
			return last.Err()
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w; the last lines that it printed:\n%s", err, last.Tail())
		case <-tick.C:
		}
	}
}

// Kubeconfig returns the path of the administrator's kubeconfig file.
func (s *Server) Kubeconfig() string { return filepath.Join(s.dir, "admin.kubeconfig") }

// Done is closed when "lab serve" has ended.
func (s *Server) Done() <-chan struct{} { return s.processes[0].Done() }

// Stop ends the processes, the server last, and removes their files. It returns a
// [*controlplane.ExitError] if one had ended by itself. It may be called twice.
func (s *Server) Stop() (err error) {
	for _, process := range slices.Backward(s.processes) {
		process.Stop(context.Background())
		err = errors.Join(err, process.Err())
	}
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// NamespaceControllers are the controllers that fill every namespace as the genuine control plane
// does: with a default service account and the CA bundle.
func NamespaceControllers() []string {
	return []string{"serviceaccount-controller", "root-ca-certificate-publisher-controller"}
}

// Config configures a server. The zero value is "lab serve" alone.
type Config struct {
	// Args are further arguments of "lab serve".
	Args []string
	// Controllers are the controllers that kube-controller-manager runs on the server, as the
	// administrator. Default: it does not run.
	Controllers []string
}
