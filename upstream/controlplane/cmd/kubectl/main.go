// Command kubectl is the genuine kubectl of the same version as the control plane, for machines that have none. It is
// a program of its own because linked into the control plane's binary it would make that half as large again.
package main

import (
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err) // prints what kubectl prints, and exits
	}
}
