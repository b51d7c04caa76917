package worker

import "io"

// Command says how to start a worker.
type Command struct {
	// Side is what errors call the worker: "ours".
	Side string
	// Path is the program, Args are its arguments.
	Path string
	Args []string
	// Env is added to this process's environment.
	Env []string
	// Stderr is where the worker's complaints go. Nil discards them.
	Stderr io.Writer
}
