package compare

// Side is who does the work.
type Side string

// The sides of a comparison.
const (
	// Ours is this project with the fast form of every gear.
	Ours Side = "ours"
	// Textbook is this project with the textbook form of every gear.
	Textbook Side = "textbook"
	// InOrder is this project's FIFO that keeps every event in order of arrival, for the scenarios of the FIFO.
	InOrder Side = "inorder"
	// Theirs is client-go, or kube-controller-manager for whole processes.
	Theirs Side = "client-go"
	// RealFIFO is client-go's newer FIFO, which its informers use by default, for the scenarios of the FIFO.
	RealFIFO Side = "client-go's RealFIFO"
	// Priority is controller-runtime's priority queue, for the scenarios of the queue.
	Priority Side = "controller-runtime"
)
