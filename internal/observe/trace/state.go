package trace

// State is what the boxes of the view show: the fold of all events up to Seq.
//
// Its JSON is what the page draws. Every field but inFlight is always there, and a number is an
// integer below 2^53. Times (…At) are Event.Time of the event that set them; us is a duration in
// µs. What waits in an order is a map, in which s is the number of the event that queued the entry:
// so the difference of one event is small.
type State struct {
	Seq  uint64 `json:"s"` // of the last event
	Time int64  `json:"t"`
	// Odd counts events that contradict the state, such as the Done of a key that was never handed
	// out.
	Odd uint64 `json:"odd"`
	// Gears are the packages that have had an event ("deltafifo", "queue", …).
	Gears map[string]bool `json:"gears"`
	// Lost counts lost events by gear. The recording ends with them.
	Lost map[string]uint64 `json:"lost"`
	// Ended is the reason of trace.end; "" before.
	Ended string `json:"ended"`

	Informers  map[string]*InformerState  `json:"informers"`  // by Event.In
	Queues     map[string]*QueueState     `json:"queues"`     // by Event.In
	Namespaces map[string]*NamespaceState `json:"namespaces"` // by key
	Requests   RequestsState              `json:"requests"`
	Lab        LabState                   `json:"lab"`

	// before has what the last event has changed in maps; nil: nobody asks for a difference.
	before []before
}

// InformerState is one informer: reflector, queue, store and listeners.
type InformerState struct {
	Phase     string         `json:"phase"` // "", started, synced, stopped
	Reflector ReflectorState `json:"reflector"`
	FIFO      FIFOState      `json:"fifo"`
	Store     StoreState     `json:"store"`
	// Handlers by Event.Handler. A handler that was removed and has ended is deleted; one that
	// ended with the informer stays, with Ended set.
	Handlers map[string]*HandlerState `json:"handlers"`
}

// ReflectorState is the list and watch.
type ReflectorState struct {
	Phase    string `json:"phase"` // "Idle" at first; then stateChanged.to
	PhaseAt  int64  `json:"phaseAt"`
	Position string `json:"rv"`    // of the last listed, event or bookmark with an rv
	Lists    uint64 `json:"lists"` // listed
	Items    int64  `json:"items"` // of the last list
	Watches  uint64 `json:"watches"`
	Open     bool   `json:"open"` // between watchStarted and watchEnded
	Events   uint64 `json:"events"`
	Expired  uint64 `json:"expired"`
	BackOff  int64  `json:"backOff"`  // µs of the back-off under way; 0 in every phase but BackingOff
	Failures uint64 `json:"failures"` // back-offs since the last listed, watchStarted or event
	Err      string `json:"err"`      // of the last backOff, expired or watchEnded
}

// FIFOState is the queue between reflector and store.
type FIFOState struct {
	// Slots wait, by key, and are popped in the order of their numbers; Total is how many. In the
	// inorder form a key has one slot too, although each delta there waits by itself.
	Slots map[string]*SlotState `json:"slots"`
	Total int64                 `json:"total"`
	// InFlight is the entry being processed; absent if there is none.
	InFlight   *EntryState `json:"inFlight,omitempty"`
	Queued     uint64      `json:"queued"` // deltas
	Popped     uint64      `json:"popped"`
	Tombstones uint64      `json:"tombstones"`
	Peak       int64       `json:"peak"` // the maximum of Total
}

// SlotState is the deltas of a key.
type SlotState struct {
	Seq    uint64 `json:"s"`
	Deltas string `json:"d"` // letters, oldest first; the newest 20
	N      int64  `json:"n"` // of all deltas
}

// EntryState is a key and its deltas.
type EntryState struct {
	Key    string `json:"k"`
	Deltas string `json:"d"`
	N      int64  `json:"n"`
}

// StoreState is the content of the store.
type StoreState struct {
	// Objects has the resource version by key; "" if it is unknown.
	Objects map[string]string `json:"objects"`
	Total   int64             `json:"total"`
	// Key and Kind (added, updated, deleted, replaced) are of the last write. From and To are the
	// resource versions of the last informer.applied with an object.
	Key  string `json:"k"`
	Kind string `json:"kind"`
	From string `json:"from"`
	To   string `json:"to"`
}

// HandlerState is one listener.
type HandlerState struct {
	// Pending are the events that wait, with the running one and the initial content. It may be
	// negative for a moment after a loss.
	Pending int64  `json:"pending"`
	Peak    int64  `json:"peak"`
	Handled uint64 `json:"handled"`
	Merged  uint64 `json:"merged"`
	Panics  uint64 `json:"panics"`
	Removed bool   `json:"removed"`
	Ended   bool   `json:"ended"`
	// Call is the running call, absent between calls. Micros is how long the last one took.
	Call   *CallState `json:"call,omitempty"`
	Micros int64      `json:"us"`
}

// CallState is the running call of a handler.
type CallState struct {
	Key  string `json:"k"`
	Kind string `json:"kind"`
	At   int64  `json:"at"`
}

// QueueState is a work queue and its workers.
type QueueState struct {
	// Queue has for each waiting key the number of the event that queued it; Total is how many wait.
	Queue map[string]uint64 `json:"queue"`
	Total int64             `json:"total"`
	// Processing are the keys with workers. Dirty is Queue and those with Dirty set.
	Processing map[string]*ProcessingState `json:"processing"`
	// Workers is how many keys were processed at once at most. A key has the lowest free slot of them
	// from got to done.
	Workers int `json:"workers"`
	// Delayed are the keys that wait for a delay to end.
	Delayed      map[string]DelayState `json:"delayed"`
	DelayedTotal int64                 `json:"delayedTotal"`
	// Failures are the failures by key since its forgotten.
	Failures map[string]int64 `json:"failures"`

	Added     uint64 `json:"added"`
	Coalesced uint64 `json:"coalesced"`
	Got       uint64 `json:"got"`
	Done      uint64 `json:"done"`
	Retried   uint64 `json:"retried"`
	Peak      int64  `json:"peak"` // the maximum of Total

	ShuttingDown bool `json:"shuttingDown"`
	Draining     bool `json:"draining"`

	last uint64 // the number in Queue of the key that a worker got last
}

// ProcessingState is a key with a worker.
type ProcessingState struct {
	Slot  int   `json:"slot"` // from 0
	At    int64 `json:"at"`
	Dirty bool  `json:"dirty"` // it was added again; done queues it
}

// DelayState is a delayed key: its delay ends at At plus Micros.
type DelayState struct {
	At     int64 `json:"at"`
	Micros int64 `json:"us"`
}

// NamespaceState is one terminating namespace. One that is gone stays while there are fewer than
// mostNamespaces.
type NamespaceState struct {
	UID     string `json:"uid"`
	Running bool   `json:"running"` // between passStarted and passDone
	Pass    string `json:"p"`       // the last one
	Passes  uint64 `json:"passes"`
	PassAt  int64  `json:"passAt"`
	// Phase is the phase under way since PhaseAt, "" if none. Phases has the µs of every phase so
	// far, summed over the passes.
	Phase   string           `json:"phase"`
	PhaseAt int64            `json:"phaseAt"`
	Phases  map[string]int64 `json:"phases"`
	// DueAt is when a pass was last requested (enqueued), Due the delay in µs.
	DueAt int64 `json:"dueAt"`
	Due   int64 `json:"due"`

	Remaining  map[string]int64          `json:"remaining"`  // by resource, of the last pass; 0 is left out
	Conditions map[string]ConditionState `json:"conditions"` // by type
	Conflicts  uint64                    `json:"conflicts"`
	Failures   int64                     `json:"failures"`
	Err        string                    `json:"err"` // of the last pass; "" if it succeeded
	Gone       bool                      `json:"gone"`
}

// ConditionState is a condition of a namespace.
type ConditionState struct {
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// RequestsState are the requests to the API server.
type RequestsState struct {
	// Latest are the attempts under way and the last 50 others, by the number of the event that began
	// them; Watches are the open watches by request number. The attempt of a watch is done when it is
	// open.
	Latest  map[string]*RequestState `json:"latest"`
	Watches map[string]*RequestState `json:"watches"`

	Started uint64 `json:"started"`
	Done    uint64 `json:"done"`
	Failed  uint64 `json:"failed"` // done with err
}

// RequestState is one attempt of a request.
type RequestState struct {
	Request  uint64 `json:"q"`
	Verb     string `json:"verb"`
	Resource string `json:"r"`
	Key      string `json:"k"`
	Path     string `json:"path"`
	At       int64  `json:"at"`
	Done     bool   `json:"done"`
	Micros   int64  `json:"us"`
	Code     int64  `json:"code"` // 0 while it is under way, or without an answer
	Err      string `json:"err"`
}

// LabState is the laboratory's part: scene and gates.
type LabState struct {
	Input string `json:"input"` // the last one
	// Held are the keys that wait at each gate, in order of arrival. A gate without any is deleted.
	Held map[string][]string `json:"held"`
	// Chapter is that of a guided scene, "" of another one. Choices are the possible answers to its
	// question, and Answer is the right one; "" before the scene asks or reveals.
	Chapter string `json:"chapter"`
	Choices string `json:"choices"`
	Answer  string `json:"answer"`
}
