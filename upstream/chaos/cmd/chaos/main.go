// Command chaos disturbs this project's informers and "orrery run" on a real control plane, by a
// random plan that its seed determines, and checks that nothing is lost. See package
// orrery/upstream/chaos.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"

	"k8s.io/klog/v2"

	"orrery/upstream/chaos"
)

func main() {
	seed := flag.Uint64("seed", 0, "the `number` that decides the plan; default: drawn")
	seeds := flag.Int("seeds", 1, "how many runs to make, with consecutive seeds")
	duration := flag.Duration("duration", chaos.DefaultDuration, "how long to disturb, quiet points included")
	dir := flag.String("dir", "", "where logs go; default: a temporary `directory`, kept when the run fails")
	plane := flag.String("controlplane", "", "the `program` of the control plane; default: bin/controlplane, looked for upwards")
	orrery := flag.String("orrery", "", "the `program` under test; default: bin/orrery, looked for upwards")
	zombie := flag.Bool("zombie", true, "have a replica whose connection goes dead without a word")
	keep := flag.Bool("keep", false, "keep the directory after a success")
	plan := flag.Bool("plan", false, "print the plan and do nothing")
	flag.Parse()
	if *seed == 0 {
		*seed = rand.Uint64N(1e9) + 1
	}
	klog.SetLogger(klog.Logger{}) // client-go's logs of broken requests are expected
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for range *seeds {
		if *plan {
			fmt.Print(chaos.NewPlan(*seed, *duration))
		} else if err := one(ctx, chaos.Config{Seed: *seed, Duration: *duration, Dir: *dir, ControlPlane: *plane, Orrery: *orrery, Zombie: *zombie, Keep: *keep, Log: os.Stdout}); err != nil {
			os.Exit(1)
		}
		*seed++
	}
}

// one makes a run and reports the result.
func one(ctx context.Context, config chaos.Config) error {
	began := time.Now()
	fmt.Printf("seed=%d: %v of faults between a real control plane and orrery, by the plan below (kind, place, amount, duration).\n"+
		"After each round the faults end, and everything has to come right again (\"quiet\"). Ctrl-C ends all programs.\n", config.Seed, config.Duration)
	err := chaos.Run(ctx, config)
	switch failure, failed := errors.AsType[*chaos.Failure](err); {
	case err == nil:
		fmt.Printf("seed=%d: passed after %.0f s: nothing was lost or leaked\n", config.Seed, time.Since(began).Seconds())
	case failed:
		fmt.Printf("\n%v\n\nreplay: make -C upstream chaos SEED=%d DURATION=%s\n", err, failure.Seed, config.Duration)
	case ctx.Err() != nil:
		fmt.Printf("\nseed=%d: stopped after %.0f s: %v\n", config.Seed, time.Since(began).Seconds(), err)
	default:
		fmt.Printf("\nseed=%d: %v\n", config.Seed, err)
	}
	return err
}
