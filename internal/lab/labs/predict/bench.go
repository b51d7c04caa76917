package predict

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
	"orrery/internal/lab/bench/queuebench"
)

// newBench is the interpreter for internal/lab/bench/queuebench/phase.go: a measurement of the
// textbook queue, which may misbehave. It takes a tenth of a second. Its figures are far from
// the limits in scripts, because the machine may be busy.
func newBench(ctx context.Context) commands {
	queue := &oddQueue{Subject: queuebench.Textbook()}
	config := &queuebench.Config{Producers: 1, Workers: 1, Keys: 100, Load: load.Load{Duration: 60 * time.Millisecond, Rate: 1000}}
	var result *bench.Result
	run := sync.OnceValue(func() (err error) {
		result, err = queuebench.Run(ctx, queue, config, nil)
		return err
	})
	return commands{
		"keys NUMBER": func(args ...string) (_ string, err error) {
			config.Keys, err = strconv.Atoi(args[0])
			return "", err
		},
		// how long a worker needs for a key
		"work DURATION": func(args ...string) (_ string, err error) {
			config.HandlerCost, err = time.ParseDuration(args[0])
			return "", err
		},
		// in each phase the first Add takes that long
		"slow-add DURATION": func(args ...string) (_ string, err error) {
			queue.slowAdd, err = time.ParseDuration(args[0])
			return "", err
		},
		// in each phase the queue hands out a key that no producer added
		"foreign-key": func(...string) (string, error) {
			queue.foreignKey = true
			return "", nil
		},
		// what the measurement returns
		"result": func(...string) (string, error) {
			if wrong, ok := errors.AsType[*bench.ProofError](run()); ok {
				return "no figures: " + wrong.What, nil
			}
			return "figures", run()
		},
		// which figures of the steady phase, with an event each millisecond for 60 ms, are longer
		"longer-than DURATION": func(args ...string) (string, error) {
			limit, err := time.ParseDuration(args[0])
			if err := errors.Join(err, run()); err != nil {
				return "", err
			}
			var longer []string
			if result.Latency.Quantile(0.5) > limit {
				longer = append(longer, "median")
			}
			if result.Latency.Max() > limit {
				longer = append(longer, "maximum")
			}
			return list(longer, " "), nil
		},
		// whether there were as many passes as events
		"passes": func(...string) (string, error) {
			if err := run(); err != nil {
				return "", err
			}
			figures := map[string]float64{}
			for _, f := range result.Figures {
				figures[f.Name] = f.Value
			}
			if figures["processed"] < figures["added"] {
				return "fewer than events", nil
			}
			return "as many as events", nil
		},
	}
}

// oddQueue makes queues that misbehave.
type oddQueue struct {
	queuebench.Subject
	slowAdd    time.Duration
	foreignKey bool
}

func (s *oddQueue) New(options queuebench.Options) queuebench.Queue {
	q := s.Subject.New(options)
	odd := &oddPhase{Queue: q}
	odd.firstAdd = sync.OnceFunc(func() { time.Sleep(s.slowAdd) })
	odd.foreign = make(chan string, 1)
	if s.foreignKey {
		odd.foreign <- "a key that no producer added"
	}
	return odd
}

// oddPhase is the queue of one phase.
type oddPhase struct {
	queuebench.Queue
	firstAdd func()
	foreign  chan string
}

func (q *oddPhase) Add(key string) {
	q.firstAdd()
	q.Queue.Add(key)
}

func (q *oddPhase) Get() (key string, shutdown bool) {
	select {
	case key := <-q.foreign:
		return key, false
	default:
		return q.Queue.Get()
	}
}
