package chaos

import (
	"math/rand/v2"
	"sync"
	"time"
)

// refusal is an answer that a request gets in place of the server's.
type refusal struct {
	code       int
	retryAfter int // seconds; 0 says nothing
}

// streamFaults are what happens to the messages of watches. The zero value is nothing.
type streamFaults struct {
	withholdBookmarks bool
	duplicateEvery    int // each so many changes one comes twice; 0 is never
	staleEvery        int // each so many changes one from before comes again
	endAfter          int // changes after which a watch ends in good order
	breakAfter        int // changes after which it breaks off inside a message
	errorAfter        int // changes after which the server says that something is wrong
	errorCode         int // what it says then
	pieces            int // at most so many bytes come at a time; 0: as they are
	emptyBookmarks    bool
}

// httpFaults are the faults that a door has on the level of HTTP. Several can be in force at the same time. The zero value
// is none, and ready for use.
type httpFaults struct {
	mu             sync.Mutex // guards the fields below
	dice           *rand.Rand
	refuse         refusal
	refuseShare    float64
	lose           float64 // the share of requests whose answer is lost
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

// heal switches everything off.
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

// refusal tells whether a request is refused, and how.
func (f *httpFaults) refusal() (refusal, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refuse, f.rollLocked(f.refuseShare)
}

// answers tells what becomes of the answer to a request, besides.
func (f *httpFaults) answers() answerFault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rollLocked(f.answerShare) {
		return f.answer
	}
	return ""
}

// loses tells whether the answer to a request is lost.
func (f *httpFaults) loses() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rollLocked(f.lose)
}

// expires tells whether continue tokens are too old.
func (f *httpFaults) expires() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.expireContinue {
		f.hits++
	}
	return f.expireContinue
}

// delay is how long a request waits.
func (f *httpFaults) delay() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.slow
}

// streams are the faults of watches, and a number to choose an old message by.
func (f *httpFaults) streams() (streamFaults, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stream, f.dice.IntN(1 << 16)
}

// hit counts a fault that struck.
func (f *httpFaults) hit() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hits++
}

// struck is how often a fault has struck.
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
