package stage

import (
	"time"

	"orrery/internal/gears"
	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/demo/story"
	"orrery/restclient"
)

// Config is what a stage needs. All fields but Objects, Gears and FillTime are required.
type Config struct {
	Teller *story.Teller
	// Server says how the server is reached. Credentials are those of the clients.
	Server      restclient.Config
	Credentials map[story.Client]restclient.Credentials
	// Faults are those of the server.
	Faults *faults.Set
	// Objects is how many objects the namespace is filled with; at least one of each type. 0: DefaultObjects.
	Objects int
	// Gears are those of the controller and of the spectators.
	Gears gears.Set
	// FillTime is how long filling the namespace is made to take, so that it can be watched; 0: as fast as it goes.
	FillTime time.Duration
}

// DefaultObjects fill the bars well and take a moment to make.
const DefaultObjects = 320

// Namespace is the name of the namespace of every scene.
const Namespace = "shop"

// The names of the users that the clients are for the server, so that faults can choose among them.
const (
	ControllerUser = "system:serviceaccount:kube-system:namespace-controller"
	SpectatorsUser = "spectators"
)
