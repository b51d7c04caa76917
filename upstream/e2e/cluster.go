package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orrery/upstream/controlplane"
)

// Cluster is a genuine control plane with one namespace controller, the subject, running beside it.
type Cluster struct {
	// ControlPlane is the cluster without the subject. Cluster.Stop stops it.
	*controlplane.ControlPlane

	subject    Subject
	kubeconfig string // the subject's
	controller *controlplane.Process
}

// StartCluster starts a control plane without a namespace controller, and then the subject with
// further arguments. The context bounds the start only. The caller must call [Cluster.Stop].
func StartCluster(
	ctx context.Context, subject Subject, config controlplane.Config, args ...string,
) (*Cluster, error) {
	if config.NamespaceController {
		return nil, errors.New("start cluster: the subject would not be the only namespace controller")
	}
	cp, err := controlplane.Start(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("start cluster: %w", err)
	}
	c := &Cluster{ControlPlane: cp, subject: subject}
	if c.kubeconfig, err = cp.KubeconfigFor(ControllerIdentity); err == nil {
		err = c.StartController(args...)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start cluster: %w", err), cp.Stop())
	}
	return c, nil
}

// StartController starts the subject, after [Cluster.StopController] or [Cluster.KillController].
func (c *Cluster) StartController(args ...string) error {
	controller, err := c.subject.start(c.kubeconfig, c.LogFile(c.subject.Name), args...)
	if err != nil {
		return err
	}
	c.controller = controller
	return nil
}

// StopController stops the subject and waits; see [controlplane.Process.Stop].
func (c *Cluster) StopController(ctx context.Context) { c.controller.Stop(ctx) }

// KillController kills the subject, as a crash would.
func (c *Cluster) KillController() { c.controller.Kill() }

// Controller returns the subject's process, the last one started.
func (c *Cluster) Controller() *controlplane.Process { return c.controller }

// Stop stops the subject and then the control plane. It returns an error if either had already
// ended.
func (c *Cluster) Stop() error {
	c.StopController(context.Background())
	return errors.Join(c.controller.Err(), c.ControlPlane.Stop())
}

// ControllerIdentity is the user of every subject: the service account of the built-in namespace
// controller. kube-apiserver's bootstrap roles give it exactly the rights that this controller
// needs, so a subject that needs more fails.
const ControllerIdentity = "system:serviceaccount:kube-system:namespace-controller"

// Subject is a namespace controller under test, as a process of its own beside a control plane
// without one. All subjects are killed, restarted and compared in the same way.
type Subject struct {
	// Name is the subject's name in tests and log files.
	Name string
	// Binary is the program's path from the repository's root.
	Binary string
	// Args returns the program's arguments for a cluster.
	Args func(kubeconfig string) []string
}

// Orrery returns this project's controller, "orrery run". The environment variable E2E_GEARS sets
// its flag --gears.
func Orrery() Subject {
	return Subject{
		Name:   "orrery",
		Binary: filepath.Join("bin", "orrery"),
		Args: func(kubeconfig string) []string {
			// The controller's identity has no rights on Leases. Many subjects run at once, so no
			// port is fixed.
			args := []string{"run", "--kubeconfig=" + kubeconfig, "--leader-elect=false", "--metrics-port=0"}
			if gears := os.Getenv("E2E_GEARS"); gears != "" {
				args = append(args, "--gears="+gears)
			}
			return args
		},
	}
}

// BuiltIn returns kube-controller-manager with its namespace controller and no other.
func BuiltIn() Subject {
	return Subject{
		Name:   "built-in",
		Binary: filepath.Join("bin", "controlplane"),
		Args: func(kubeconfig string) []string {
			return []string{
				controlplane.ControllerManager,
				"--kubeconfig=" + kubeconfig,
				"--controllers=namespace-controller",
				"--leader-elect=false",
				"--secure-port=0", // no test needs it
			}
		},
	}
}

// start runs the subject with the given kubeconfig and further arguments.
func (s Subject) start(kubeconfig, logFile string, args ...string) (*controlplane.Process, error) {
	path, err := controlplane.FindUp(s.Binary)
	if err != nil {
		return nil, fmt.Errorf("subject %s: %w", s.Name, err)
	}
	return controlplane.StartProcess(controlplane.ProcessConfig{
		Name:    s.Name,
		Path:    path,
		Args:    append(s.Args(kubeconfig), args...),
		LogFile: logFile,
	})
}
