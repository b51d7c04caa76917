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

// shifts tracks which replica holds the Lease, by the answers at the doors, and which replica
// writes. A replica must not write while another one holds the Lease.
//
// A write that a slow link held back may arrive late, which a Lease cannot prevent. So a write
// counts only some time after the other replica's answer; see lateness.
type shifts struct {
	mu         sync.Mutex // guards the fields below
	leader     string     // a replica, "" if there is no leader
	since      time.Time
	changes    int
	violations []string
}

// lateness bounds the delay of a request. Faults delay bytes by at most half a second; a slow
// transfer may take longer, see Run.
const lateness = 2 * time.Second

// wrote records a request at a replica's door.
func (s *shifts) wrote(replica string, request *http.Request) {
	switch request.Method {
	case http.MethodGet, http.MethodHead:
		return
	}
	if path := request.URL.Path; strings.Contains(path, "/leases") || strings.Contains(path, "/events") || strings.Contains(path, "reviews") {
		return // allowed for a standby
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leader == "" || s.leader == replica || time.Since(s.since) < lateness || len(s.violations) == mostViolations {
		return
	}
	s.violations = append(s.violations, fmt.Sprintf("%s: %s writes (%s %s), and %s leads since %s",
		time.Now().Format(clock), replica, request.Method, request.URL.Path, s.leader, s.since.Format(clock)))
}

// answered reads the answer to a replica's request, and restores its body.
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

// found returns the number of changes of the leader, and the writes of replicas that did not lead.
func (s *shifts) found() (changes int, violations []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes, slices.Clone(s.violations)
}
