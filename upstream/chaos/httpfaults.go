package chaos

import (
	"math/rand/v2"
	"sync"
	"time"
)

// refusal is an answer instead of the server's.
type refusal struct {
	code       int
	retryAfter int // seconds; 0 for none
}

// streamFaults are the faults of a watch's messages. The zero value is none.
type streamFaults struct {
	withholdBookmarks bool
	duplicateEvery    int // every n-th change comes twice; 0 is never
	endAfter          int // the watch ends cleanly after n changes
	breakAfter        int // the watch breaks off inside a message after n changes
	errorAfter        int // the watch ends with an error after n changes
	errorCode         int // its code
	pieces            int // at most n bytes come at a time; 0: no limit
	emptyBookmarks    bool
}

// httpFaults are a door's faults in HTTP, which can overlap. The zero value is none, and ready for
// use.
type httpFaults struct {
	mu             sync.Mutex // guards the fields below
	dice           *rand.Rand
	refuse         refusal
	refuseShare    float64
	lose           float64 // share of requests whose answer is lost
	answer         answerFault
	answerShare    float64
	slow           time.Duration
	expireContinue bool
	stream         streamFaults
	hits           int
}

func newHTTPFaults(seed uint64) *httpFaults {
	return &httpFaults{dice: rand.New(rand.NewPCG(seed, 0))}
}

// heal ends all faults.
func (f *httpFaults) heal() {
	f.change(func(f *httpFaults) {
		f.refuseShare, f.lose, f.answerShare, f.slow, f.expireContinue, f.stream = 0, 0, 0, 0, false, streamFaults{}
	})
}

// change sets faults.
func (f *httpFaults) change(set func(*httpFaults)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(f)
}

// refusal returns the refusal of a request, if any.
func (f *httpFaults) refusal() (refusal, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refuse, f.rollLocked(f.refuseShare)
}

// answers returns the fault of an answer.
func (f *httpFaults) answers() answerFault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rollLocked(f.answerShare) {
		return f.answer
	}
	return ""
}

// loses reports whether the answer to a request is lost.
func (f *httpFaults) loses() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rollLocked(f.lose)
}

// expires reports whether continue tokens are expired.
func (f *httpFaults) expires() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.expireContinue {
		f.hits++
	}
	return f.expireContinue
}

// delay returns how long a request waits.
func (f *httpFaults) delay() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.slow
}

// streams returns the faults of watches.
func (f *httpFaults) streams() streamFaults {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stream
}

// hit counts a fault that struck.
func (f *httpFaults) hit() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hits++
}

// struck returns how often a fault has struck.
func (f *httpFaults) struck() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hits
}

func (f *httpFaults) rollLocked(share float64) bool {
	if share == 0 || f.dice.Float64() >= share {
		return false
	}
	f.hits++
	return true
}
