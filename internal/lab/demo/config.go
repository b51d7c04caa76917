package demo

import (
	"time"

	"orrery/controller/gears"
	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
	"orrery/queue"
	"orrery/restclient"
)

// StageConfig configures a stage. Objects, Gears, NewQueue and FillTime are optional.
type StageConfig struct {
	Teller *story.Teller
	// Server is the address of the server; Credentials are those of the clients.
	Server      restclient.Config
	Credentials map[story.Client]restclient.Credentials
	// Faults injects faults into the server.
	Faults *faults.Set
	// Objects is the number of objects in the namespace, at least one of each type. 0: DefaultObjects.
	Objects int
	// Gears are the gears of the controller and of the spectators.
	Gears gears.Set
	// NewQueue makes the work queues of the controllers. Default: Gears.NewQueue.
	NewQueue func(queue.RateLimiter[string], queue.Config[string]) queue.ObservableInterface[string]
	// Recorder records what the gears of the controller and of the spectators do; nil: nothing.
	Recorder *trace.Recorder
	// Guide leads a reader through the scene; nil: there is none.
	Guide *gate.Session
	// Gates hold items of the controller and of the spectators; nil: nothing is held, and passes have
	// time limits.
	Gates *gate.Gates
	// FillTime spreads the creation of the objects over this time, so that it can be watched; 0: no
	// delay.
	FillTime time.Duration
}

// passTimeout is the time limit of a pass; none with gates, where a pass may wait as long as a
// reader looks.
func (c StageConfig) passTimeout() time.Duration {
	if c.Gates == nil {
		return 0 // the default
	}
	return -1
}

// DefaultObjects is the default number of objects.
const DefaultObjects = 320

// Namespace is the name of the namespace of every scene.
const Namespace = "shop"

// The clients' user names, by which faults select them.
const (
	controllerUser = "system:serviceaccount:kube-system:namespace-controller"
	spectatorsUser = "spectators"
	scriptUser     = "script"
)

var users = map[story.Client]string{
	story.Controller: controllerUser, story.Spectators: spectatorsUser, story.Script: scriptUser,
}

// newClient returns a client of a server whose requests are counted. more is another trace, or nil.
// The client ends with the stage.
func (s *Stage) newClient(
	who story.Client, server restclient.Config, more *restclient.Trace,
) (*restclient.Client, error) {
	server.Credentials = s.Credentials[who]
	server.QPS = -1
	server.Codec = s.Gears.Codec()
	server.UserAgent = "orrery-demo/" + string(who)
	server.Trace = restclient.JoinTraces(requestTrace(s.Teller, who), more)
	if who != story.Script { // the script is outside of the recorded process
		server.Trace = restclient.JoinTraces(server.Trace, s.Recorder.Requests())
		server = gate.HoldRequests(s.Gates, server)
	}
	client, err := restclient.New(server)
	if err == nil {
		s.clients = append(s.clients, client)
	}
	return client, err
}

// requestTrace counts requests by verb. Discovery counts as get.
func requestTrace(teller *story.Teller, who story.Client) *restclient.Trace {
	trace := &restclient.Trace{
		RequestDone: func(info restclient.RequestInfo, _ restclient.RequestResult) {
			verb := info.Verb
			if verb == "" {
				verb = "get"
			}
			teller.Update(func(s *story.State) {
				if s.Requests[who] == nil {
					s.Requests[who] = map[string]int{}
				}
				s.Requests[who][verb]++
			})
		},
	}
	if who == story.Controller {
		trace.Retry = func(info restclient.RequestInfo, wait time.Duration, err error) {
			teller.Tell(story.Deleter, "%s %s is retried in %v: %v", info.Method, info.Path, wait, err)
		}
	}
	return trace
}
