package logs

import (
	"bytes"
	"strings"
	"sync"
	"time"
)

// repeatEvery is the shortest time between two lines with the same text. A pass examines a stuck
// namespace every few seconds, perhaps for hours; one line a minute shows that.
const repeatEvery = time.Minute

// manyTexts bounds what one recent remembers. One with more texts than that forgets all of them.
const manyTexts = 100

// recent holds what was logged in the last minute, by text. The zero value is empty. Its methods
// may be called from any goroutine.
type recent struct {
	mu sync.Mutex
	at map[string]time.Time // guarded by mu
}

// due reports whether the text was not logged in the last minute, and counts it as logged.
func (r *recent) due(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if at, known := r.at[text]; known && now.Sub(at) < repeatEvery {
		return false
	}
	if r.at == nil || len(r.at) >= manyTexts {
		r.at = map[string]time.Time{}
	}
	r.at[text] = now
	return true
}

// outage is a time in which a list-watch does not work.
type outage struct {
	mu       sync.Mutex // guards the fields below
	since    time.Time  // zero: there is no outage
	attempts int
	logged   recent
}

// failed counts an attempt, which may begin an outage, and reports whether its error deserves a
// line.
func (o *outage) failed(text string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		o.since = time.Now()
	}
	o.attempts++
	return o.logged.due(text)
}

// over ends an outage. lasted is 0 if there was none.
func (o *outage) over() (lasted time.Duration, attempts int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		return 0, 0
	}
	lasted, attempts = max(time.Since(o.since), 1), o.attempts
	o.since, o.attempts, o.logged = time.Time{}, 0, recent{}
	return lasted, attempts
}

// manyStories bounds how many stories that are over are remembered.
const manyStories = 1000

// stories holds what was logged of each namespace, or of each key of another controller, so that
// the beginning is logged once and the same text once a minute.
type stories struct {
	mu    sync.Mutex // guards the fields below
	known map[string]*story
	over  int // how many of the known are over
}

// story is what was logged of one key.
type story struct {
	uid      string
	over     bool // the last pass found nothing more to do; the story is kept, because events of it arrive late
	reported bool // its conditions were logged
	// Of a namespace: see [nsctl.DeletionBegan]; finalizers hold content.
	began  time.Time
	held   bool
	logged recent
}

func newStories() *stories { return &stories{known: map[string]*story{}} }

// begin reports whether the key is new. A new object of an old name is new as well.
func (s *stories) begin(key, uid string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known[key]
	if known != nil && known.uid == uid {
		return false
	}
	if known != nil && known.over {
		s.over--
	}
	s.known[key] = &story{uid: uid}
	return true
}

// of calls do with the story of a key, or with one that nobody keeps if the key is unknown.
func (s *stories) of(key string, do func(*story)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known[key]
	if known == nil {
		known = &story{reported: true}
	}
	do(known)
}

// firstReport reports whether this is its first call for the key.
func (s *stories) firstReport(key string) (first bool) {
	s.of(key, func(known *story) { first, known.reported = !known.reported, true })
	return first
}

// isNews reports whether the text was not logged of the key in the last minute.
func (s *stories) isNews(key, text string) (news bool) {
	s.of(key, func(known *story) { news = known.logged.due(text) })
	return news
}

// end marks that there is nothing more to do for the key: what goes wrong from now on is news.
func (s *stories) end(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known[key]
	if known == nil {
		return
	}
	known.logged = recent{}
	if !known.over {
		known.over = true
		s.over++
	}
	if s.over > manyStories {
		s.forgetLocked()
	}
}

// forgetLocked drops the stories that are over.
func (s *stories) forgetLocked() {
	for key, known := range s.known {
		if known.over {
			delete(s.known, key)
		}
	}
	s.over = 0
}

// Panic logs a panic that the program has survived, with its stack: one from the same place once a
// minute. name must not hold the content of objects.
func (l *Logger) Panic(name string, stack []byte) {
	if l.recent.due(name + placesIn(stack)) {
		l.Error().Str("panic", name).Bytes("stack", stack).Msg("panic in this program, continuing")
	}
}

// placesIn returns the files and lines of a stack, without the arguments of its functions.
func placesIn(stack []byte) string {
	var places strings.Builder
	for line := range bytes.Lines(stack) {
		if place, isPlace := bytes.CutPrefix(line, []byte("\t")); isPlace {
			place, _, _ = bytes.Cut(place, []byte(" +0x"))
			places.Write(place)
		}
	}
	return places.String()
}
