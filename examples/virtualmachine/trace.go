package virtualmachine

import (
	"time"

	"orrery/internal/hooks"
	"orrery/restclient/api"
)

// Trace is a set of hooks that are called as the controller works. The pointer and each hook may be
// nil. Hooks run on the goroutines of the workers, several at a time; they must not block, and must
// not change the objects that they get.
type Trace struct {
	// PassDone: a worker has looked at a machine. failures counts the passes that failed since the
	// last one that did not. err may be a *wait.Panic: a pass that panicked has failed.
	PassDone func(key string, took time.Duration, failures int, err error)
	// PhaseChanged: the server has stored a new phase; from is the one before.
	PhaseChanged func(vm *VirtualMachine, from VirtualMachinePhase)
	// Event: something that the owner of the object should be told, as an Event of Kubernetes.
	Event func(vm *VirtualMachine, kind api.EventType, reason, message string)
}

// The reasons of Events, besides "Failed" with the name of a driver's call behind it, such as
// FailedCreateServer.
const (
	ReasonServerCreated = "ServerCreated"
	ReasonServerDeleted = "ServerDeleted"
	ReasonServerLost    = "ServerLost" // it has ended, or has gone, by itself
	ReasonInvalidSpec   = "InvalidSpec"
	ReasonFailedSync    = "FailedSync" // the API server refuses what the controller writes
)

// JoinTraces returns a trace that calls the hooks of all traces, in the order of the arguments.
// Arguments may be nil.
func JoinTraces(traces ...*Trace) *Trace { return hooks.Traces((*Trace).and, traces...) }

func (t *Trace) and(u *Trace) *Trace {
	return &Trace{
		PassDone:     hooks.Join4(t.PassDone, u.PassDone),
		PhaseChanged: hooks.Join2(t.PhaseChanged, u.PhaseChanged),
		Event:        hooks.Join4(t.Event, u.Event),
	}
}

// ignore has every hook, so that none has to be looked for.
var ignore = &Trace{
	PassDone:     func(string, time.Duration, int, error) {},
	PhaseChanged: func(*VirtualMachine, VirtualMachinePhase) {},
	Event:        func(*VirtualMachine, api.EventType, string, string) {},
}
