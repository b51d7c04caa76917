package fork

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/view"
	observed "orrery/internal/observe/view"
	"orrery/restclient/api"
	"orrery/wait"
)

// player does the inputs of a recording again.
type player struct {
	on        *stage.Stage
	gates     *view.Gates
	workloads *stage.Workloads
	acting    Input        // the last one of the script
	ended     <-chan error // has its error when it has returned; nil: that was received

	mu     sync.Mutex
	faults []fault // active; guarded by mu
}

type fault struct{ id, text string }

// action does one input again.
type action func(ctx context.Context, p *player, args string) error

// do does an input. Before the script acts, its last action has to return. What is done to the
// gates comes at any time: an action may wait for it. So with meanwhile, do leaves an action alone
// that has not returned in the time of the recording. An error is that of the returned input.
func (p *player) do(ctx context.Context, input Input, meanwhile bool) (Input, error) {
	act := actions[input.Name]
	if ofGates(input) {
		return input, act(ctx, p, input.Arguments)
	}
	if before, err := p.returned(); err != nil {
		return before, err
	}
	ended := make(chan error, 1)
	p.acting, p.ended = input, ended
	go func() { ended <- act(ctx, p, input.Arguments) }()
	if meanwhile {
		select {
		case err := <-ended:
			ended <- err // for returned
		case <-time.After(min(input.pause+slack, longest)):
			return input, nil
		}
	}
	return p.returned()
}

// returned blocks until the script's last action has returned.
func (p *player) returned() (Input, error) {
	if p.ended == nil {
		return p.acting, nil
	}
	err := <-p.ended
	p.ended = nil
	return p.acting, err
}

// ofGates reports whether an input is done to the gates.
func ofGates(input Input) bool {
	return slices.Contains([]string{"close", "open", "step", "run", "release"}, input.Name)
}

// actions are the inputs by name. Those of the reader of a guided scene act on the script alone, so
// a fork leaves them out: nil.
var actions = map[string]action{
	"answer": nil, "reveal": nil,

	"fill":               func(ctx context.Context, p *player, _ string) error { return p.on.Fill(ctx) },
	"create-namespace":   func(ctx context.Context, p *player, _ string) error { return p.on.CreateNamespace(ctx) },
	"delete-namespace":   func(ctx context.Context, p *player, _ string) error { return p.on.DeleteNamespace(ctx) },
	"release-finalizers": func(ctx context.Context, p *player, _ string) error { return p.on.ReleaseFinalizers(ctx) },
	"empty-finalizers":   func(ctx context.Context, p *player, _ string) error { return p.on.EmptyFinalizers(ctx) },
	"break-api":          func(ctx context.Context, p *player, _ string) error { return p.on.BreakAPI(ctx) },
	"delete-api":         func(ctx context.Context, p *player, _ string) error { return p.on.DeleteAPI(ctx) },
	"define-machines":    func(ctx context.Context, p *player, _ string) error { return p.on.DefineMachines(ctx) },
	"start-machines":     func(_ context.Context, p *player, _ string) error { return p.on.StartMachines() },
	"stop-machines":      func(_ context.Context, p *player, _ string) error { p.on.StopMachines(); return nil },
	"create-machine":     func(ctx context.Context, p *player, args string) error { return p.on.CreateMachine(ctx, args) },
	"delete-machine":     func(ctx context.Context, p *player, args string) error { return p.on.DeleteMachine(ctx, args) },
	"start-second-party": func(_ context.Context, p *player, _ string) error { return p.on.StartSecondParty() },
	"fill-second-party":  func(ctx context.Context, p *player, _ string) error { return p.on.FillSecondParty(ctx) },
	"lock-second-party":  func(_ context.Context, p *player, _ string) error { p.on.LockSecondParty(); return nil },
	"unlock-second-party": func(_ context.Context, p *player, _ string) error {
		p.on.UnlockSecondParty()
		return nil
	},
	"create-family":    func(ctx context.Context, p *player, args string) error { return p.on.CreateFamily(ctx, args) },
	"delete-family":    deleteFamily,
	"add-slow-handler": addSlowHandler,
	"label-all":        labelAll,
	"delete-some":      deleteSome,

	"add-workloads": addWorkloads,
	"deploy":        withWorkloads(func(ctx context.Context, w *stage.Workloads, args string) error { return replicas(ctx, w.Deploy, args) }),
	"scale":         withWorkloads(func(ctx context.Context, w *stage.Workloads, args string) error { return replicas(ctx, w.Scale, args) }),
	"set-image":     withWorkloads(func(ctx context.Context, w *stage.Workloads, args string) error { return w.SetImage(ctx, args) }),

	"create-configmap": func(ctx context.Context, p *player, args string) error { return p.on.CreateConfigMap(ctx, args) },
	"delete-configmap": func(ctx context.Context, p *player, args string) error { return p.on.DeleteConfigMap(ctx, args) },
	"label-configmap":  labelConfigMap,
	"update-configmap": updateConfigMap,
	"request":          request,
	"start-plain":      startPlain,
	"start-informer":   startInformer,
	"add-handler":      addHandler,

	"fault":             addFault,
	"repair":            repair,
	"answer-next-watch": answerNextWatch,

	"close": closeGate, "open": openGate, "step": stepGate, "run": runTo,
	"release": func(_ context.Context, p *player, _ string) error { p.gates.Release(); return nil },
}

// scan splits arguments into values: *string, *int or *time.Duration. The last string is the rest.
func scan(args string, values ...any) (err error) {
	words := strings.SplitN(args, " ", len(values))
	if len(words) < len(values) {
		return fmt.Errorf("%q are not %d arguments", args, len(values))
	}
	for i, value := range values {
		switch value := value.(type) {
		case *string:
			*value = words[i]
		case *int:
			*value, err = strconv.Atoi(words[i])
		case *time.Duration:
			*value, err = time.ParseDuration(words[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func deleteFamily(ctx context.Context, p *player, args string) error {
	var owner, policy string
	if err := scan(args, &owner, &policy); err != nil {
		return err
	}
	return p.on.DeleteFamily(ctx, owner, api.DeletePropagation(policy))
}

func addSlowHandler(_ context.Context, p *player, args string) error {
	var resource string
	var took time.Duration
	if err := scan(args, &resource, &took); err != nil {
		return err
	}
	return p.on.AddSlowHandler(resource, took)
}

func labelAll(ctx context.Context, p *player, args string) error {
	var resource, label string
	if err := scan(args, &resource, &label); err != nil {
		return err
	}
	return p.on.LabelAll(ctx, resource, label)
}

func deleteSome(ctx context.Context, p *player, args string) error {
	var resource string
	var n int
	if err := scan(args, &resource, &n); err != nil {
		return err
	}
	_, err := p.on.DeleteSome(ctx, resource, n)
	return err
}

func addWorkloads(ctx context.Context, p *player, _ string) (err error) {
	p.workloads, err = p.on.AddWorkloads(ctx)
	return err
}

func withWorkloads(act func(ctx context.Context, w *stage.Workloads, args string) error) action {
	return func(ctx context.Context, p *player, args string) error {
		if p.workloads == nil {
			return errors.New("there is no controller of deployments yet")
		}
		return act(ctx, p.workloads, args)
	}
}

func replicas(ctx context.Context, act func(ctx context.Context, replicas int) error, args string) error {
	var n int
	if err := scan(args, &n); err != nil {
		return err
	}
	return act(ctx, n)
}

func labelConfigMap(ctx context.Context, p *player, args string) error {
	var name, label, value string
	if err := scan(args, &name, &label, &value); err != nil {
		return err
	}
	return p.on.LabelConfigMap(ctx, name, label, value)
}

func updateConfigMap(ctx context.Context, p *player, args string) error {
	var name string
	var times int
	var pause time.Duration
	if err := scan(args, &name, &times, &pause); err != nil {
		return err
	}
	return p.on.UpdateConfigMap(ctx, name, times, pause)
}

// request ignores a refusal of the server: the recorded request may have been refused, too.
func request(ctx context.Context, p *player, args string) error {
	var verb, name string
	if err := scan(args, &verb, &name); err != nil {
		return err
	}
	err := p.on.Request(ctx, verb, name)
	if _, refused := errors.AsType[*api.StatusError](err); refused {
		return nil
	}
	return err
}

func startPlain(ctx context.Context, p *player, args string) error {
	plain, err := stage.ParsePlain(args)
	if err != nil {
		return err
	}
	return p.on.StartPlain(ctx, plain)
}

func startInformer(ctx context.Context, p *player, args string) error {
	return p.on.StartInformer(ctx, strings.Fields(args)...)
}

func addHandler(_ context.Context, p *player, args string) error {
	var name string
	var resync time.Duration
	if err := scan(args, &name, &resync); err != nil {
		return err
	}
	return p.on.AddHandler(name, resync)
}

func addFault(_ context.Context, p *player, args string) error {
	id, err := p.on.Fault(args)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, fault{id, args})
	return err
}

// repair removes the oldest fault with the text, since each run has ids of its own. If the fault
// was left out, there is nothing to repair.
func repair(_ context.Context, p *player, args string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.faults, func(f fault) bool { return f.text == args }); i >= 0 {
		p.on.Repair(p.faults[i].id)
		p.faults = slices.Delete(p.faults, i, i+1)
	}
	return nil
}

func answerNextWatch(_ context.Context, p *player, args string) error {
	var code int
	var contentType, body string
	if err := scan(args, &code, &contentType, &body); err != nil {
		return err
	}
	p.on.AnswerNextWatch(code, contentType, body)
	return nil
}

func closeGate(_ context.Context, p *player, args string) error {
	gate, where, _ := strings.Cut(args, " ")
	return p.gates.Do(observed.Command{Do: "close", Gate: gate, Where: where})
}

func openGate(_ context.Context, p *player, args string) error {
	return p.gates.Do(observed.Command{Do: "open", Gate: args})
}

// stepGate waits until the recorded item is at the gate, and lets it through. If it does not come,
// the oldest one goes. A recording of an earlier version has only its key.
func stepGate(ctx context.Context, p *player, args string) error {
	gate, which, _ := strings.Cut(args, " ")
	id := view.ID(gate)
	if !slices.Contains(view.IDs(), id) {
		return fmt.Errorf("there is no gate %q", gate)
	}
	takes := func(item view.Item) bool { return item.Key == which }
	if strings.Contains(which, "==") {
		condition, err := view.ParseCondition(which)
		if err != nil {
			return err
		}
		takes = condition.Holds
	}
	const timeout = 10 * time.Second
	for began := time.Now(); time.Since(began) < timeout; {
		if _, ok := p.gates.StepFirst(id, takes); ok {
			return nil
		}
		if err := wait.Sleep(ctx, round); err != nil {
			return err
		}
	}
	p.gates.Step(id)
	return nil
}

func runTo(_ context.Context, p *player, args string) error {
	return p.gates.Do(observed.Command{Do: "run", Where: args})
}
