package e2e

import (
	"fmt"
	"os"
	"path/filepath"

	"orrery/upstream/controlplane"
)

// ControllerIdentity is the user as whom every subject runs: the service account of the built-in namespace controller,
// which kube-apiserver's bootstrap roles give exactly the rights that this controller needs. A subject that asks for
// more fails here as it would in a real cluster.
const ControllerIdentity = "system:serviceaccount:kube-system:namespace-controller"

// AuditPolicy has kube-apiserver write down what the subjects ask for (who, what, when, with what success; no content)
// and what nobody else does, so that the log costs every subject the same for each request.
const AuditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["` + ControllerIdentity + `"]
- level: None
`

// Subject is a namespace controller under test, as a process of its own. Every subject runs beside the same control
// plane, whose kube-controller-manager has no namespace controller, so that all can be killed, restarted and compared
// in the same way.
type Subject struct {
	// Name is how tests and log files call it.
	Name string
	// Binary is the program, as a path from the repository's root.
	Binary string
	// Args are the program's arguments for a cluster.
	Args func(kubeconfig string) []string
}

// Orrery is this project's controller: "orrery run". The environment variable E2E_GEARS chooses its gears, as the flag
// --gears does.
func Orrery() Subject {
	return Subject{
		Name:   "orrery",
		Binary: filepath.Join("bin", "orrery"),
		Args: func(kubeconfig string) []string {
			// Subjects have the rights of the controller's identity and nothing else, which a Lease is beyond. And many run at once: there is one port.
			args := []string{"run", "--kubeconfig=" + kubeconfig, "--leader-elect=false", "--metrics-port=0"}
			if gears := os.Getenv("E2E_GEARS"); gears != "" {
				args = append(args, "--gears="+gears)
			}
			return args
		},
	}
}

// BuiltIn is the original: the genuine kube-controller-manager, told to run its namespace controller and nothing else.
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
				"--secure-port=0", // it serves nothing that a test would ask for
			}
		},
	}
}

// Subjects are all namespace controllers that the same tests run against.
func Subjects() []Subject {
	return []Subject{BuiltIn(), Orrery()}
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
