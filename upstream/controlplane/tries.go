package controlplane

import (
	"errors"
	"os/exec"
)

// mostTries is how often a start is tried that takes kube-apiserver too long.
const mostTries = 5

// starts are those under way: each keeps a processor busy, and all would take too long if there were many.
var starts = make(chan struct{}, 2)

// gaveUp tells whether kube-apiserver has ended itself in the middle of its start; with wrong arguments it does not begin one.
func gaveUp(err error) bool {
	var ended *ExitError
	var status *exec.ExitError
	return errors.As(err, &ended) && ended.Name == APIServer && errors.As(ended.Err, &status) && status.ExitCode() == fatal
}

// fatal is what programs of Kubernetes end with that find that they cannot go on.
const fatal = 255
