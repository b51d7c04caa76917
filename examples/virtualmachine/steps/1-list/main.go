// Step 1 of docs/learn/write-your-own-controller.md: a client that lists the machines.
package main

import (
	"context"
	"fmt"
	"log"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/steps"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
)

func main() {
	config, _, err := kubeconfig.Load(kubeconfig.Options{})
	if err != nil {
		log.Fatal(steps.Explain(err))
	}
	client, err := restclient.New(config)
	if err != nil {
		log.Fatal(steps.Explain(err))
	}
	defer client.Close()

	machines := restclient.Typed[*virtualmachine.VirtualMachine](client, virtualmachine.Resource, "")
	list, err := machines.List(context.Background(), api.ListOptions{})
	if err != nil {
		log.Fatal(steps.Explain(err))
	}
	for _, vm := range list.Items {
		fmt.Printf("%s/%s wants %s CPUs and %s of memory\n", vm.Namespace, vm.Name, vm.Spec.Resource.CPU,
			vm.Spec.Resource.Memory)
	}
	fmt.Printf("end of the list, resourceVersion %s\n", list.ResourceVersion)
}
