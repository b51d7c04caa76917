package restclient

// Trace holds hooks that are called while a Client works.
type Trace struct{}
