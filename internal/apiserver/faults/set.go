package faults

import (
	"context"
	"time"

	"orrery/restclient/api"
)

// Set holds the faults that are on. The zero value is not usable; use [New]. All methods may be called from any
// goroutine.
type Set struct{}

// New returns a set without faults.
func New() *Set { return &Set{} }

// Catalogue returns the kinds of faults in the order in which they are best explained.
func Catalogue() []Kind { return nil }

// Active is a fault that is on.
type Active struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	// Text is the line that ordered it.
	Text string `json:"text"`
	// Hits is how often it has struck.
	Hits int `json:"hits"`
	// Left is how often it is still going to strike; -1 if that is not limited.
	Left int `json:"left"`
	// Until is when it ends; zero if it does not by itself.
	Until time.Time `json:"until,omitzero"`
}

// Add switches a fault on. An action (compact, cut-watches) is carried out at once; its id is of use only if it is a
// repeated one. Errors are *SyntaxError.
func (s *Set) Add(text string) (id string, err error) { return "", nil }

// Remove switches a fault off and tells whether it was on.
func (s *Set) Remove(id string) bool { return false }

// List returns the faults that are on, oldest first.
func (s *Set) List() []Active { return nil }

// On says what an action does; the server calls it once for each of [Actions]. An action that was ordered earlier is
// carried out now. f must not call the Set.
func (s *Set) On(action string, f func()) {}

// Stop removes all faults and ends repeated actions.
func (s *Set) Stop() {}

// Before is called for every request but those for health and for the debug endpoint, after Authorize. It waits where
// a fault says so, but no longer than ctx, and returns the refusal to send, or nil.
func (s *Set) Before(ctx context.Context, r Request) *api.StatusError { return nil }

// Authorize returns the 403 that RBAC would give for the request, or nil.
func (s *Set) Authorize(r Request) *api.StatusError { return nil }

// Admit returns the refusal of an admission webhook for a write, or nil. The error is an *api.StatusError.
func (s *Set) Admit(r Request) error { return nil }

// Conflict tells whether this update or patch is to fail with 409, as if somebody else had been faster.
func (s *Set) Conflict(r Request) bool { return false }

// Lag returns by how many versions reads are behind.
func (s *Set) Lag() uint64 { return 0 }

// Silent tells whether streams (watches) are half-open at the moment: they neither send nor end, and whatever is
// written to them is swallowed.
func (s *Set) Silent() bool { return false }

// NodeLost tells whether the kubelet of the node does not answer, so that its pods do not end.
func (s *Set) NodeLost(node string) bool { return false }

// Unavailable returns the groups that are announced in discovery by an APIService whose server does not answer.
// Requests to them are refused by Before.
func (s *Set) Unavailable() []api.GroupVersion { return nil }

// The actions: faults that happen once (or every so often) instead of lasting.
const (
	// Compact makes the store forget its history.
	Compact = "compact"
	// CutWatches ends the connection of every watch.
	CutWatches = "cut-watches"
)

// Actions returns the names of the actions.
func Actions() []string { return []string{Compact, CutWatches} }
