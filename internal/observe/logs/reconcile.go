package logs

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"orrery/restclient"
)

// reconcileID is the field that tells which pass a line belongs to.
const reconcileID = "reconcile_id"

// reconciles gives each pass a name of its own, and remembers which one has what in hand. There is at most one
// for each key of a controller: that is what a work queue guarantees.
type reconciles struct {
	process string // tells passes of this process from those of others that write into the same log
	count   atomic.Uint64

	// mu guards underway.
	mu       sync.Mutex
	underway map[passKey]string
}

// passKey is what a pass is about: controllers may have the same key in hand.
type passKey struct{ controller, key string }

func newReconciles() *reconciles {
	return &reconciles{process: strings.ToLower(rand.Text()[:6]), underway: map[passKey]string{}}
}

// begin names a pass. The requests that are made with the context carry the name.
func (r *reconciles) begin(ctx context.Context, controller, key string) context.Context {
	id := r.process + "-" + strconv.FormatUint(r.count.Add(1), 10)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.underway[passKey{controller, key}] = id
	return restclient.WithOrigin(ctx, id)
}

func (r *reconciles) end(controller, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.underway, passKey{controller, key})
}

// of adds the name of the pass that has the key in hand to a line, if there is one.
func (r *reconciles) of(controller, key string, line *zerolog.Event) *zerolog.Event {
	if line == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return origin(r.underway[passKey{controller, key}], line)
}

// origin adds the name of a pass to a line, if there is one.
func origin(id string, line *zerolog.Event) *zerolog.Event {
	if id == "" {
		return line
	}
	return line.Str(reconcileID, id)
}
