package worker

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/rpc"
	"net/rpc/jsonrpc"
	"runtime"
	"slices"

	"orrery/internal/lab/bench"
)

// serviceName is the prefix of the calls: "Worker.Run".
const serviceName = "Worker"

// service is the RPC service of a worker. Its exported methods are called over net/rpc.
type service struct {
	ctx       context.Context // ends with the input
	scenarios []bench.Scenario
	busy      chan struct{} // capacity 1: one scenario at a time
}

// Request asks for one run of a scenario.
type Request struct {
	Scenario string
	Effort   bench.Effort
}

// List returns the scenarios.
func (s *service) List(_ struct{}, reply *[]bench.Scenario) error {
	*reply = s.scenarios
	return nil
}

// Run runs a scenario once.
func (s *service) Run(asked Request, reply *bench.Outcome) (err error) {
	s.busy <- struct{}{}
	defer func() { <-s.busy }()
	*reply, err = run(s.ctx, s.scenarios, asked)
	return err
}

// Serve answers requests until the input ends. Then it cancels the running scenario, waits for it,
// and returns.
func Serve(scenarios []bench.Scenario, in io.Reader, out io.Writer) error {
	for i, s := range scenarios {
		if slices.ContainsFunc(scenarios[:i], func(other bench.Scenario) bool { return other.Name == s.Name }) {
			return fmt.Errorf("two scenarios are called %s", s.Name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server := rpc.NewServer()
	if err := server.RegisterName(serviceName, &service{ctx: ctx, scenarios: scenarios, busy: make(chan struct{}, 1)}); err != nil {
		return err
	}
	// The end of the input reveals a parent's death, even during a scenario.
	server.ServeCodec(jsonrpc.NewServerCodec(pipes{input{in, cancel}, out, io.NopCloser(in)}))
	return nil
}

// pipes are both directions of a connection.
type pipes struct {
	io.Reader
	io.Writer
	io.Closer
}

// input is a reader that calls a function at its end.
type input struct {
	io.Reader
	ended func()
}

func (i input) Read(p []byte) (int, error) {
	n, err := i.Reader.Read(p)
	if err != nil {
		i.ended()
	}
	return n, err
}

func run(ctx context.Context, scenarios []bench.Scenario, asked Request) (bench.Outcome, error) {
	i := slices.IndexFunc(scenarios, func(s bench.Scenario) bool { return s.Name == asked.Scenario })
	if i < 0 {
		return bench.Outcome{}, fmt.Errorf("there is no scenario %q here", asked.Scenario)
	}
	collect()
	defer collect()
	outcome, err := scenarios[i].Run(ctx, asked.Effort, nil)
	if err != nil {
		return bench.Outcome{}, err
	}
	for figure, value := range outcome.Figures {
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return bench.Outcome{}, fmt.Errorf("%s is %v", figure, value)
		}
	}
	return outcome, nil
}

// collect leaves the collector nothing to do: the second cycle finishes the sweep of the first and
// frees what finalizers and pools held.
func collect() {
	runtime.GC()
	runtime.GC()
}
