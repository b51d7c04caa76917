package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// pollInterval is the pause between two checks of a component that is not ready.
const pollInterval = 50 * time.Millisecond

// await calls ready until it returns nil, and logs that. It gives up when the component dies, when
// ctx is done or after startTimeout; the error includes the last one of ready.
func (cp *ControlPlane) await(ctx context.Context, name string, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	process := cp.process(name)
	begin := time.Now()
	for {
		err := ready(ctx)
		if err == nil {
			cp.logf("%s ready after %.1f s", name, time.Since(begin).Seconds())
			return nil
		}
		select {
		case <-process.Done():
			if died := process.Err(); died != nil {
				return died
			}
			return fmt.Errorf("%s was stopped before it was ready", name)
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready (%w): %w; the end of %s:\n%s", name, ctx.Err(), err, cp.LogFile(name),
				process.Tail())
		case <-time.After(pollInterval):
		}
	}
}

// controllersReady checks the default namespace's default content, which proves that the
// controllers' informers have synced and their workers run. No health endpoint does.
func (cp *ControlPlane) controllersReady(ctx context.Context) error {
	if err := cp.healthy(ctx, cp.ports.controllerManager); err != nil {
		return err
	}
	if cp.config.runs(serviceAccountController) {
		if err := cp.api.get(ctx, "/api/v1/namespaces/default/serviceaccounts/default", nil); err != nil {
			return err
		}
	}
	if cp.config.runs(rootCAPublisherController) {
		return cp.api.get(ctx, "/api/v1/namespaces/default/configmaps/kube-root-ca.crt", nil)
	}
	return nil
}

func (cp *ControlPlane) schedulerReady(ctx context.Context) error {
	return cp.healthy(ctx, cp.ports.scheduler)
}

// healthy checks a component's /healthz, with the administrator's certificate.
func (cp *ControlPlane) healthy(ctx context.Context, p port) error {
	server := &endpoint{url: "https://" + p.address(), client: cp.api.client}
	return server.get(ctx, "/healthz", nil)
}

// node is the part of a Node that shows whether pods can be scheduled on it.
type node struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Taints []struct {
			Key string `json:"key"`
		} `json:"taints"`
	} `json:"spec"`
	Status struct {
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

func (n node) schedulable() bool {
	if len(n.Spec.Taints) > 0 {
		return false
	}
	for _, condition := range n.Status.Conditions {
		if condition.Type == "Ready" {
			return condition.Status == "True"
		}
	}
	return false
}

func (cp *ControlPlane) nodesReady(ctx context.Context) error {
	var nodes struct {
		Items []node `json:"items"`
	}
	if err := cp.api.get(ctx, "/api/v1/nodes", &nodes); err != nil {
		return err
	}
	ready := 0
	for _, n := range nodes.Items {
		if n.schedulable() {
			ready++
		}
	}
	if ready < cp.config.FakeNodes {
		return fmt.Errorf("%d of %d fake nodes are ready", ready, cp.config.FakeNodes)
	}
	return nil
}

// mostTries bounds the starts when kube-apiserver's own start times out.
const mostTries = 5

// starts bounds concurrent starts: each keeps a processor busy.
var starts = make(chan struct{}, 2)

// gaveUp reports whether kube-apiserver exited during its start. With wrong arguments the code
// differs.
func gaveUp(err error) bool {
	var ended *ExitError
	var status *exec.ExitError
	return errors.As(err, &ended) && ended.Name == APIServer && errors.As(ended.Err, &status) &&
		status.ExitCode() == fatal
}

// fatal is the exit code of klog.Fatal.
const fatal = 255
