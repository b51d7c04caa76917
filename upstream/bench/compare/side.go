package compare

// Side is who does the work.
type Side string

// The sides of a comparison.
const (
	// Ours is this project.
	Ours Side = "ours"
	// Theirs is client-go, or kube-controller-manager for whole processes.
	Theirs Side = "client-go"
	// Priority is controller-runtime's priority queue, for the scenarios of the queue.
	Priority Side = "controller-runtime"
)
