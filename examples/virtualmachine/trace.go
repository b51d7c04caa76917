package virtualmachine

import "orrery/restclient/api"

// Trace is a set of hooks that are called as the controller works. The pointer and each hook may be
// nil. Hooks run on the goroutines of the workers, several at a time; they must not block, and must
// not change the objects that they get.
type Trace struct {
	// PhaseChanged: the server has stored a new phase; from is the one before.
	PhaseChanged func(vm *VirtualMachine, from VirtualMachinePhase)
	// Event: something to record as an Event of Kubernetes.
	Event func(vm *VirtualMachine, kind api.EventType, reason, message string)
	// Waiting: the spec can never work, and no pass follows before it changes.
	Waiting func(vm *VirtualMachine, why error)
	// DriverWorks: the driver does not work, because of err, or works again if err is nil.
	DriverWorks func(err error)
}

// The reasons of Events, besides "Failed" with the name of a driver's call behind it, such as
// FailedCreateServer.
const (
	ReasonServerCreated = "ServerCreated"
	ReasonServerDeleted = "ServerDeleted"
	ReasonServerLost    = "ServerLost"  // it has ended, or was deleted by something else
	ReasonInvalidSpec   = "InvalidSpec" // the controller waits for another one
	ReasonFailedSync    = "FailedSync"  // the API server refuses what the controller writes
)
