package served

import (
	"io"
	"path/filepath"

	"orrery/upstream/controlplane"
)

// NamespaceControllers are the controllers of kube-controller-manager that give every namespace what the genuine
// control plane gives it: a default service account and the bundle of the cluster's authority.
func NamespaceControllers() []string {
	return []string{"serviceaccount-controller", "root-ca-certificate-publisher-controller"}
}

// Config says what to run. The zero value is the server alone, as "lab serve" starts it.
type Config struct {
	// Binary is the program lab. Default: bin/lab in the working directory or the nearest directory above it.
	Binary string
	// Args are added to the arguments of "lab serve".
	Args []string
	// Controllers are those that kube-controller-manager is to run on the server, as the administrator. Default: it is
	// not started.
	Controllers []string
	// ControlPlane is the program that holds kube-controller-manager. Default: bin/controlplane, found as Binary is.
	ControlPlane string
	// Log receives a line for each process that dies. Default: nowhere.
	Log io.Writer
}

func (c Config) complete() (Config, error) {
	if c.Log == nil {
		c.Log = io.Discard
	}
	var err error
	if c.Binary == "" {
		if c.Binary, err = controlplane.FindUp(filepath.Join("bin", "lab")); err != nil {
			return c, err
		}
	}
	if c.ControlPlane == "" && len(c.Controllers) > 0 {
		c.ControlPlane, err = controlplane.FindUp(filepath.Join("bin", "controlplane"))
	}
	return c, err
}
