package play

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/internal/lab/course"
	"orrery/restclient"
	"orrery/restclient/api"
)

// killedCode is the exit code of a program that was killed.
const killedCode = 137

// start starts the program of the lab.
func (p *player) start(s course.Start) (err error) {
	var arguments []string
	for _, argument := range slices.Concat(p.Run.Args, s.Args) {
		arguments = append(arguments, os.Expand(argument, func(string) string { return p.state }))
	}
	command := exec.Command(p.Program, arguments...)
	command.Env = append(os.Environ(), "KUBECONFIG="+p.kubeconfig)
	p.process, err = startProcess(command, p.Log)
	return err
}

// killed waits until the program has ended with the exit code of a killed program.
func (p *player) killed(ctx context.Context, limit time.Duration) error {
	err := p.until(ctx, p.limit(limit), func() (bool, error) { return false, nil })
	switch {
	case errors.Is(err, errTooLong):
		p.say("run-not-killed", p.limit(limit).Seconds())
		return errOutcome
	case errors.Is(err, errEnded) && p.process.command.ProcessState.ExitCode() == killedCode:
		p.process = nil
		return nil
	}
	return err
}

// vms returns the VirtualMachines in the namespace default.
func (p *player) vms() *restclient.Resource[*virtualmachine.VirtualMachine] {
	return restclient.Typed[*virtualmachine.VirtualMachine](p.client, virtualmachine.Resource, "default")
}

// createMachine creates a VirtualMachine, and the definition of its type if there is none yet.
func (p *player) createMachine(ctx context.Context, name string) error {
	definition := &api.Unstructured{}
	if err := yaml.Unmarshal(virtualmachine.CustomResourceDefinition, &definition.Object); err != nil {
		return err
	}
	definitions := api.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions"}
	_, err := restclient.Dynamic(p.client, definitions, "").Create(ctx, definition, api.UpdateOptions{})
	if err != nil && !api.IsAlreadyExists(err) {
		return err
	}
	vm := &virtualmachine.VirtualMachine{}
	vm.APIVersion, vm.Kind, vm.Name = "cloudnative.tw/v1alpha1", virtualmachine.Kind, name
	vm.Spec.Resource = virtualmachine.ResourceList{CPU: "1", Memory: `"64Mi"`}
	return p.until(ctx, p.limit(startLimit), func() (bool, error) {
		created, err := p.vms().Create(ctx, vm, api.UpdateOptions{})
		if api.IsNotFound(err) {
			return false, nil // the definition is not established yet
		}
		if err == nil {
			p.machines[name+"-"+created.UID] = name
		}
		return err == nil, err
	})
}

// compareMachines waits until the VirtualMachines and the servers are the wanted ones.
func (p *player) compareMachines(ctx context.Context, want course.Machines) error {
	var objects, servers []string
	err := p.until(ctx, p.limit(want.Within), func() (bool, error) {
		list, err := p.vms().List(ctx, api.ListOptions{})
		if err != nil {
			return false, err
		}
		memory, err := driver.NewMemory(p.state)
		if err != nil {
			return false, err
		}
		objects, servers = nil, nil
		for _, vm := range list.Items {
			objects = append(objects, vm.Name)
		}
		for _, server := range memory.Names() {
			servers = append(servers, p.machines[server])
		}
		return slices.Equal(objects, want.Objects) && slices.Equal(servers, want.Servers), nil
	})
	switch {
	case err == nil:
		p.say("run-machines", p.names(objects), p.names(servers))
	case errors.Is(err, errTooLong):
		p.say("run-not-machines", p.names(objects), p.names(servers), p.names(want.Objects), p.names(want.Servers))
		return errOutcome
	}
	return err
}

// names returns names as a text.
func (p *player) names(names []string) string {
	if len(names) == 0 {
		return course.Say(p.Lang, "run-none")
	}
	return strings.Join(names, ", ")
}
