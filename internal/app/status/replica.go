package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"orrery/internal/words"
)

// The names in /debug/orrery of the terminating namespaces, each a [Deletion], and of the UID of
// the cluster.
const (
	Gear        = "deletions"
	ClusterGear = "cluster"
)

// longestAnswer bounds what is read of a replica. With 10,000 terminating namespaces it is 4 MiB.
const longestAnswer = 32 << 20

// page is the part of /debug/orrery that is used here.
type page struct {
	Client      map[string]struct{ Host string }
	Controllers []struct{ Name, State string }
	Informer    map[string]struct {
		HasSynced bool
		Reflector struct {
			Failures  int
			LastError string
		}
	}
	Controller map[string]struct {
		Active     map[string]time.Time
		PassedOver int
		Selection  string
		Queue      struct {
			Queued         []string
			QueuedLeftOut  int
			Delayed        []struct{}
			DelayedLeftOut int
		}
	}
	Election *struct {
		Lease, Holder string
		Leading       bool
		Transitions   int
		Acquired      *time.Time
		Lasts, Silent string
	}
	Cluster   string
	Deletions *[]Deletion // nil: an older version without them
}

// controller is the controller of the report.
const controller = "namespace-controller"

// FromReplica reads a report from the replica with the debug address, such as 127.0.0.1:8081.
func FromReplica(ctx context.Context, client *http.Client, address string) (*Report, error) {
	shown, now, err := read(ctx, client, address)
	if err != nil {
		return nil, &ReplicaError{Address: address, Err: err}
	}
	state, runs := shown.Controller[controller]
	namespaces := shown.Informer["namespaces"]
	switch {
	case !runs:
		return nil, &ReplicaError{Address: address, Err: errors.New("it does not run " + controller)}
	case shown.Deletions == nil:
		return nil, &ReplicaError{Address: address, Err: errors.New("its version does not report deletions")}
	case !namespaces.HasSynced:
		return nil, &ReplicaError{Address: address, Err: errors.New("it has not synced yet")}
	}
	r := &Report{Replica: address, ClusterUID: shown.Cluster, Time: now, Namespaces: []Namespace{}}
	for _, deletion := range *shown.Deletions {
		r.Namespaces = append(r.Namespaces, Namespace{Deletion: deletion})
	}
	for _, c := range shown.Client {
		r.Server = c.Host
	}
	r.Selection, r.PassedOver = state.Selection, state.PassedOver
	works := false
	for _, c := range shown.Controllers {
		works = works || c.Name == controller && c.State == "running"
	}
	if works {
		r.Backlog = &Backlog{
			Waiting: len(state.Queue.Queued) + state.Queue.QueuedLeftOut,
			Active:  len(state.Active),
			Planned: len(state.Queue.Delayed) + state.Queue.DelayedLeftOut,
		}
	}
	if e := shown.Election; e != nil {
		r.Leader = Leader{Lease: e.Lease, Holder: e.Holder, Since: e.Acquired, Transitions: e.Transitions, Self: e.Leading}
		r.Leader.silence(duration(e.Silent), duration(e.Lasts))
	} else if !works {
		r.Leader.Missing = "this replica has no election, and its controller does not run"
	}
	if failures := namespaces.Reflector.Failures; failures > 0 {
		r.Stale = fmt.Sprintf("its watch of namespaces has failed %s in a row: %s",
			words.Count(failures, "time"), namespaces.Reflector.LastError)
	}
	r.assess()
	return r, nil
}

// read reads /debug/orrery and returns it with the replica's time.
func read(ctx context.Context, client *http.Client, address string) (*page, time.Time, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/debug/orrery", nil)
	if err != nil {
		return nil, time.Time{}, err
	}
	answer, err := client.Do(request)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the repeated address
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		err = errors.New("nothing listens there")
	case errors.Is(err, context.DeadlineExceeded):
		err = errors.New("it does not answer")
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, time.Time{}, fmt.Errorf("it answers /debug/orrery with %s", answer.Status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, longestAnswer+1))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		err = errors.New("its answer does not end")
	case err == nil && len(text) > longestAnswer:
		err = fmt.Errorf("its answer is longer than %d MiB", longestAnswer>>20)
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	var shown page
	if err := json.Unmarshal(text, &shown); err != nil {
		return nil, time.Time{}, fmt.Errorf("it does not answer /debug/orrery as this version does: %w", err)
	}
	return &shown, clock(answer.Header), nil
}

// clock returns the server's time.
func clock(header http.Header) time.Time {
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return time.Now() // a proxy dropped the header
	}
	return now
}

func duration(text string) time.Duration {
	d, _ := time.ParseDuration(text) // 0 if invalid
	return d
}

// ReplicaError reports that no replica answered correctly.
type ReplicaError struct {
	Address string
	Err     error
}

func (e *ReplicaError) Error() string {
	return fmt.Sprintf("asking the replica at %s failed: %v", e.Address, e.Err)
}

func (e *ReplicaError) Unwrap() error { return e.Err }
