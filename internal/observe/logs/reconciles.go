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

// reconcileID is the field with the pass that a line belongs to.
const reconcileID = "reconcile_id"

// reconciles gives each pass an id and holds those in progress. The work queue guarantees at most
// one for each key of a controller.
type reconciles struct {
	process string // distinguishes the passes of several processes in one log
	count   atomic.Uint64

	mu       sync.Mutex
	underway map[passKey]string // guarded by mu
}

// passKey is the key of a pass. Two controllers may process the same key.
type passKey struct{ controller, key string }

func newReconciles() *reconciles {
	return &reconciles{process: strings.ToLower(rand.Text()[:6]), underway: map[passKey]string{}}
}

// begin gives a pass an id, which requests with the context carry.
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

// of adds the id of the pass that processes the key to a line, if there is one.
func (r *reconciles) of(controller, key string, line *zerolog.Event) *zerolog.Event {
	if line == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return origin(r.underway[passKey{controller, key}], line)
}

// origin adds the id of a pass to a line, if there is one.
func origin(id string, line *zerolog.Event) *zerolog.Event {
	if id == "" {
		return line
	}
	return line.Str(reconcileID, id)
}
