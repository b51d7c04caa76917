package logs

import (
	"sync"
	"time"
)

const (
	// repeatEvery is how long the same news of a namespace is held back: a namespace that is stuck is looked at every
	// few seconds, for hours perhaps, and one line a minute is enough to see that.
	repeatEvery = time.Minute
	// manyStories bounds how many namespaces that are done with are remembered.
	manyStories = 1000
)

// stories remembers what has been told of which namespace, or other key,, so that the beginning is told once and the same news not
// again and again.
type stories struct {
	// mu guards the rest.
	mu    sync.Mutex
	known map[string]*story
	over  int // how many of the known are over
}

// story is what has been told of one namespace.
type story struct {
	uid string
	// over: the last pass found nothing more to do. The story is kept all the same, because news of it arrive late.
	over bool
	// news was told at newsAt.
	news   string
	newsAt time.Time
}

func newStories() *stories { return &stories{known: map[string]*story{}} }

// begin tells whether this is the first that is heard of the namespace. A new one of an old name is another namespace.
func (s *stories) begin(namespace, uid string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known[namespace]
	if known != nil && known.uid == uid {
		return false
	}
	if known != nil && known.over {
		s.over--
	}
	s.known[namespace] = &story{uid: uid}
	return true
}

// isNews tells whether something different was told last, or the same so long ago that it bears repeating.
func (s *stories) isNews(namespace, news string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known[namespace]
	if known == nil {
		return true
	}
	if known.news == news && time.Since(known.newsAt) < repeatEvery {
		return false
	}
	known.news, known.newsAt = news, time.Now()
	return true
}

// end notes that there is nothing more to do for the namespace.
func (s *stories) end(namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known[namespace]
	if known == nil {
		return
	}
	known.news = ""
	if !known.over {
		known.over = true
		s.over++
	}
	if s.over > manyStories {
		s.forgetLocked()
	}
}

// forgetLocked drops what is over.
func (s *stories) forgetLocked() {
	for namespace, known := range s.known {
		if known.over {
			delete(s.known, namespace)
		}
	}
	s.over = 0
}
