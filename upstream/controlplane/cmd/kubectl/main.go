// Command kubectl is the genuine kubectl of the control plane's version. Linked into the control
// plane's binary it would add half to its size.
package main

import (
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err) // prints kubectl's message and exits
	}
}
