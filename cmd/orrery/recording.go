package main

import (
	"context"
	"os"
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/observe/events"
	"orrery/internal/observe/logs"
	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
)

// recordingOptions are the flags that say what is recorded in the cluster.
type recordingOptions struct {
	events bool
}

func (o *recordingOptions) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&o.events, "events", true, "record the outcome of deletions as Events in the namespace default; without permission to create Events, none are recorded")
}

// recording tells the cluster, by Events, how deletions have ended. A nil one tells nothing.
type recording struct {
	recorder *events.Recorder
}

// startRecording starts to record. The caller must call stop, which waits a moment for Events that have not been sent.
func startRecording(client *restclient.Client, options *runOptions, logger *logs.Logger) *recording {
	if !options.recording.events || options.dryRun {
		return nil
	}
	instance, _ := os.Hostname() // as client-go's recorders do; without a name nothing is lost but that
	return &recording{recorder: events.Start(events.Config{
		Client: client, Component: "orrery", Instance: instance, Trace: logger.Events(),
	})}
}

// lastEvents is how long stop waits for what has not been sent.
const lastEvents = 2 * time.Second

func (r *recording) stop() {
	if r != nil {
		r.recorder.Stop(lastEvents)
	}
}

func (r *recording) namespaces() *nsctl.Trace {
	if r == nil {
		return nil
	}
	return events.Deletions(r.recorder)
}

// snapshot is what /debug/orrery shows.
func (r *recording) snapshot() any {
	if r == nil {
		return nil
	}
	return r.recorder.Snapshot()
}

// became tells that this process leads, as client-go does.
func (r *recording) became(namespace, name, identity string) {
	if r != nil {
		lease := api.ObjectReference{Kind: "Lease", APIVersion: "coordination.k8s.io/v1", Namespace: namespace, Name: name}
		r.recorder.Event(context.Background(), lease, api.EventNormal, "LeaderElection", identity+" became leader")
	}
}
