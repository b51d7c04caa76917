package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"k8s.io/klog/v2"
)

func main() {
	var config config
	flag.DurationVar(&config.duration, "duration", time.Minute,
		"how long the writers write, over all steps; at least 40s")
	flag.StringVar(&config.dir, "dir", "",
		"where logs go; default: a temporary `directory`, kept when the run fails")
	flag.StringVar(&config.controlPlane, "controlplane", "",
		"the `program` of the control plane; default: bin/controlplane, looked for upwards")
	flag.StringVar(&config.orrery, "orrery", "",
		"the `program` under test; default: bin/orrery, looked for upwards")
	flag.Parse()
	klog.SetLogger(klog.Logger{}) // client-go's logs of broken requests are expected
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	began := time.Now()
	if err := runAll(ctx, config); err != nil {
		fmt.Printf("\nfailed after %.0f s:\n%v\n", time.Since(began).Seconds(), err)
		os.Exit(1)
	}
	fmt.Printf("passed after %.0f s: nothing was lost or leaked\n", time.Since(began).Seconds())
}
