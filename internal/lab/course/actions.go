package course

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/internal/lab/causes"
	"orrery/internal/why"
	"orrery/restclient"
	"orrery/restclient/api"
)

func (p *player) namespaces() *restclient.Resource[*api.Unstructured] {
	return restclient.Dynamic(p.client, api.NamespacesResource, "")
}

// fill creates namespaces with config maps and pods in them.
func (p *player) fill(ctx context.Context, f Fill) error {
	p.filled[f.Prefix] = f
	return p.each(ctx, f.Prefix, func(name string) error {
		_, err := p.namespaces().Create(ctx, object("Namespace", name), api.UpdateOptions{})
		for i := 0; i < f.Objects && err == nil; i++ {
			settings := object("ConfigMap", fmt.Sprint("settings-", i))
			_, err = restclient.Dynamic(p.client, api.ConfigMapsResource, name).Create(ctx, settings,
				api.UpdateOptions{})
		}
		for i := 0; i < f.Pods && err == nil; i++ {
			pod := object("Pod", fmt.Sprint("pod-", i))
			pod.Object["spec"] = map[string]any{
				"schedulerName": "none", // so that nobody else writes the pod
				"containers":    []any{map[string]any{"name": "main", "image": "example.com/main"}},
			}
			_, err = restclient.Dynamic(p.client, api.PodsResource, name).Create(ctx, pod, api.UpdateOptions{})
		}
		return err
	})
}

func object(kind, name string) *api.Unstructured {
	return &api.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name},
	}}
}

// each calls f for each namespace that was created with a prefix.
func (p *player) each(ctx context.Context, prefix string, f func(name string) error) error {
	for i := range p.filled[prefix].Namespaces {
		if err := f(fmt.Sprintf("%s-%d", prefix, i)); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// touch updates each namespace and each pod several times.
func (p *player) touch(ctx context.Context, t Touch) error {
	for i := range t.Times {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"touched":"%d"}}}`, i)
		touch := func(objects *restclient.Resource[*api.Unstructured], name string) error {
			_, err := objects.Patch(ctx, name, api.MergePatchType, patch, api.UpdateOptions{})
			if api.IsNotFound(err) {
				return nil // the controller was faster
			}
			return err
		}
		err := p.each(ctx, t.Prefix, func(name string) error {
			err := touch(p.namespaces(), name)
			for i := 0; i < p.filled[t.Prefix].Pods && err == nil; i++ {
				err = touch(restclient.Dynamic(p.client, api.PodsResource, name), fmt.Sprint("pod-", i))
			}
			return err
		})
		if err == nil {
			err = p.pause(ctx, t.Every)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// end ends the fault with a text.
func (p *player) end(text string) error {
	for _, fault := range p.server.Faults().List() {
		if fault.Text == text {
			p.server.Faults().Remove(fault.ID)
			return nil
		}
	}
	return fmt.Errorf("there is no fault %q to end", text)
}

// pause lets time pass while the controller works.
func (p *player) pause(ctx context.Context, d time.Duration) error {
	err := p.until(ctx, d, func() (bool, error) { return false, nil })
	if errors.Is(err, errTooLong) {
		return nil
	}
	return err
}

// gone waits until no namespace with the prefix is left.
func (p *player) gone(ctx context.Context, g Gone) error {
	var left int
	all := p.filled[g.Prefix].Namespaces
	err := p.until(ctx, p.limit(g.Within), func() (bool, error) {
		list, err := p.namespaces().List(ctx, api.ListOptions{})
		if err != nil {
			return false, err
		}
		left = 0
		for _, namespace := range list.Items {
			if strings.HasPrefix(namespace.GetName(), g.Prefix+"-") {
				left++
			}
		}
		all = max(all, left) // the script need not have created them
		return left == 0, nil
	})
	if errors.Is(err, errTooLong) {
		return p.fail("run-not-gone", left, all, p.limit(g.Within).Seconds())
	}
	if err == nil {
		p.say("run-gone", all)
	}
	return err
}

// metric waits until a metric is within its limits.
func (p *player) metric(ctx context.Context, m Metric) error {
	var value float64
	var missing bool // a series begins with its first value
	err := p.until(ctx, p.limit(m.Within), func() (bool, error) {
		var err error
		value, err = p.process.metric(m.Name)
		if missing = errors.Is(err, errNoMetric); missing {
			return false, nil
		}
		return m.Holds(value), err
	})
	switch {
	case err == nil:
		p.say("run-metric", m.Name, value, limits(m))
	case errors.Is(err, errTooLong) && missing:
		return p.fail("run-no-metric", m.Name)
	case errors.Is(err, errTooLong):
		return p.fail("run-not-metric", m.Name, value, limits(m))
	}
	return err
}

// errNoMetric reports that no series has the name.
var errNoMetric = errors.New("the controller has no metric")

// limits returns the limits of a metric as a text.
func limits(m Metric) string {
	var parts []string
	if m.AtLeast != nil {
		parts = append(parts, fmt.Sprint("≥ ", *m.AtLeast))
	}
	if m.AtMost != nil {
		parts = append(parts, fmt.Sprint("≤ ", *m.AtMost))
	}
	return strings.Join(parts, ", ")
}

// metric returns the sum of all series whose text begins with name.
func (p *process) metric(name string) (sum float64, err error) {
	answer, err := http.Get(p.address + "/metrics")
	if err != nil {
		select {
		case <-p.ended:
			return 0, errEnded
		default:
			return 0, err
		}
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	found := false
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), name) {
			continue
		}
		at := strings.LastIndexByte(lines.Text(), ' ')
		value, err := strconv.ParseFloat(lines.Text()[at+1:], 64)
		if err != nil {
			return 0, err
		}
		sum, found = sum+value, true
	}
	if !found && lines.Err() == nil {
		return 0, errNoMetric
	}
	return sum, lines.Err()
}

// stuck sets up a namespace of lab 13, with the seed of the learner's verdicts, and ends the
// situation of an earlier action before. It prints what a user sees, and if the verdicts have
// passed, what "orrery why" proves.
func (p *player) stuck(ctx context.Context, s Stuck) error {
	if !causes.IsOfCourse(s.Namespace) {
		return fmt.Errorf("lab 13 has no namespace %q", s.Namespace)
	}
	verdicts, err := causes.ReadVerdicts(p.Verdicts)
	if err != nil {
		return err
	}
	if p.situation != nil {
		if err := p.world.End(*p.situation); err != nil {
			return err
		}
	}
	situation := causes.OfCourse(s.Namespace, verdicts.Seed)
	p.situation = &situation
	if err := p.world.Break(situation); err != nil {
		return err
	}
	symptom, err := p.world.Symptom()
	if err != nil {
		return err
	}
	for _, line := range symptom {
		p.line(line)
	}
	if !p.Passed {
		p.say("run-why-later", causes.Namespace)
		return nil
	}
	return p.explain(ctx, situation, p.limit(s.Within))
}

// explain prints the report of "orrery why" when it proves that the namespace is stuck, and names
// all causes of the situation: what it reads follows some of them only after a while.
func (p *player) explain(ctx context.Context, situation causes.Fixture, limit time.Duration) error {
	var report string
	err := p.until(ctx, limit, func() (bool, error) {
		command := exec.CommandContext(ctx, p.Program, "why", causes.Namespace)
		command.Env = append(os.Environ(), "KUBECONFIG="+p.kubeconfig)
		text, err := command.Output()
		if _, is := errors.AsType[*exec.ExitError](err); err != nil && !is {
			return false, err
		}
		report = string(text)
		unnamed := func(id string) bool { return !strings.Contains(report, id) }
		return command.ProcessState.ExitCode() == why.ExitStuck && !slices.ContainsFunc(situation.IDs(), unnamed), nil
	})
	if err != nil && !errors.Is(err, errTooLong) {
		return err
	}
	p.say("run-why", causes.Namespace)
	fmt.Fprint(p.Out, report)
	if err != nil {
		return p.fail("run-not-why", strings.Join(situation.IDs(), ", "), limit.Seconds())
	}
	return nil
}

// killedCode is the exit code of a program that was killed.
const killedCode = 137

// start starts the program of the lab.
func (p *player) start(s Start) (err error) {
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
		return p.fail("run-not-killed", p.limit(limit).Seconds())
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
func (p *player) compareMachines(ctx context.Context, want Machines) error {
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
		return p.fail("run-not-machines", p.names(objects), p.names(servers),
			p.names(want.Objects), p.names(want.Servers))
	}
	return err
}

// names returns names as a text.
func (p *player) names(names []string) string {
	return cmp.Or(strings.Join(names, ", "), Say(p.Lang, "run-none"))
}
