package benchcmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/dispatchbench"
	"orrery/internal/program"
)

var dispatchBench = benchmark{
	name:  "dispatch",
	short: "From watch to handlers: four designs behind one interface",
	long: `A fake watch hands out events, and everything between it and the handlers is
real: the reflector, the DeltaFIFO, the store, and the part that brings one
event to many handlers. Of that part there are several designs; docs/bench.md
says when each is right.

Shows events per second, what each cost, the peak of memory, and how long an
event took from when it was due until a handler had been told of it. Every
handler witnesses what it is told: all of it, in order.`,
	examples: `  # the design that is the default, with one handler
  lab bench dispatch

  # all designs side by side, sixteen handlers, with a picture
  lab bench dispatch --design all --handlers 16 --plot designs.svg

  # handlers that take 5 us each: who falls behind, and what does it cost?
  lab bench dispatch --design all --handler-cost 5us --rate 150k

  # one object changes all the time; a design that merges has less to tell
  lab bench dispatch --design fast,coalescing --distribution hot`,
	sweeps: `  # what does a further handler cost?
  lab bench sweep dispatch --vary handlers=1..32 --design all \
    --plot handlers.svg

  # what do larger objects cost?
  lab bench sweep dispatch --vary object-size=0,1k,4k,16k --kind pods`,
	workload: func() workload { return &dispatchWorkload{} },
}

// dispatchWorkload are the flags of "lab bench dispatch".
type dispatchWorkload struct {
	design   program.Choice
	handlers numberFlag
	cost     handlerCost
	objects  numberFlag
	kind     program.Choice
	size     numberFlag
	churn    float64
	load     loadFlags
}

func (w *dispatchWorkload) subjects() subjects[dispatchbench.Subject] {
	var subjects []dispatchbench.Subject
	for _, design := range dispatchbench.Designs() {
		subjects = append(subjects, dispatchbench.Orrery(design))
	}
	return subjects
}

func (w *dispatchWorkload) addTo(flags *pflag.FlagSet) {
	w.subjects().designVar(flags, &w.design, "how events get from the store to the handlers")
	countVar(flags, &w.handlers, "handlers", 1, 1, "how many handlers are told")
	w.cost.addTo(flags)
	countVar(flags, &w.objects, "objects", 10_000, 1, "how many objects are in the store")
	program.ChoiceVar(flags, &w.kind, "kind", "", "kind of objects", []dispatchbench.Kind{dispatchbench.Heads, dispatchbench.Pods}, "what the objects are")
	sizeVar(flags, &w.size, "object-size", "payload that an object carries besides the fields of a small pod")
	flags.Float64Var(&w.churn, "churn", 0, "the `share` of events, 0 to 1, that delete an object or bring it back; the others change one")
	w.load.addTo(flags, 5*time.Second, "objects")
}

func (w *dispatchWorkload) config() dispatchbench.Config {
	return dispatchbench.Config{
		Handlers: w.handlers.int(), HandlerCost: time.Duration(w.cost), Objects: w.objects.int(),
		Kind: dispatchbench.Kind(w.kind.String()), Size: w.size.int(), Churn: w.churn,
		Distribution: w.load.chosen(), Duration: w.load.duration, Rate: w.load.rate.value, Seed: w.load.seed,
	}
}

func (w *dispatchWorkload) check() error {
	if err := w.load.check(); err != nil {
		return err
	}
	if err := w.cost.check(); err != nil {
		return err
	}
	if !(w.churn >= 0 && w.churn <= 1) {
		return fmt.Errorf("--churn must be between 0 and 1, it is %v", w.churn)
	}
	return w.config().Validate()
}

func (w *dispatchWorkload) runs() []job {
	return runsOf(w.subjects().chosen(w.design), func(subject dispatchbench.Subject) job {
		return job{do: func(ctx context.Context, meter *bench.Meter) (*bench.Result, error) {
			return dispatchbench.Run(ctx, subject, w.config(), meter)
		}}
	})
}
