package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// shifts knows which replica holds the Lease, from the answers that the API server gave at the doors, and which of them
// writes. A replica whose Lease another one holds must not write any more.
//
// What a slow link holds back comes late, and a Lease has nothing that would stop it. So a write counts only when it comes
// to the door some time after the other's answer has passed; see lateness.
type shifts struct {
	mu         sync.Mutex // guards the fields below
	leader     string     // a replica, "" when nobody leads
	since      time.Time
	changes    int
	violations []string
}

// lateness is how long a request may have been on its way. The faults delay bytes by half a second at most; a link that
// drips holds them back for longer, see Run.
const lateness = 2 * time.Second

// wrote notes a request that came to a replica's door.
func (s *shifts) wrote(replica string, request *http.Request) {
	switch request.Method {
	case http.MethodGet, http.MethodHead:
		return
	}
	if path := request.URL.Path; strings.Contains(path, "/leases") || strings.Contains(path, "/events") || strings.Contains(path, "reviews") {
		return // what a standby may do as well
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leader == "" || s.leader == replica || time.Since(s.since) < lateness || len(s.violations) == mostViolations {
		return
	}
	s.violations = append(s.violations, fmt.Sprintf("%s: %s writes (%s %s), and %s leads since %s",
		time.Now().Format(clock), replica, request.Method, request.URL.Path, s.leader, s.since.Format(clock)))
}

// answered looks at the answer to a request of a replica, and leaves its body as it was.
func (s *shifts) answered(replica string, response *http.Response) {
	request := response.Request
	if !strings.Contains(request.URL.Path, "/leases") || request.Method != http.MethodPut && request.Method != http.MethodPost && request.Method != http.MethodPatch {
		return
	}
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated {
		return
	}
	body, err := io.ReadAll(response.Body)
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), errorReader{err}), response.Body}
	var lease struct {
		Spec struct{ HolderIdentity string }
	}
	if json.Unmarshal(body, &lease) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	leader := replica
	if lease.Spec.HolderIdentity == "" {
		leader = ""
	}
	if s.leader != leader {
		s.leader, s.since = leader, time.Now()
		if leader != "" {
			s.changes++
		}
	}
}

// found returns how often somebody became leader, and who wrote without being it.
func (s *shifts) found() (changes int, violations []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes, slices.Clone(s.violations)
}
