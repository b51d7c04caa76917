package e2e

import (
	"fmt"
	"os"
	"path/filepath"

	"orrery/upstream/controlplane"
)

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
