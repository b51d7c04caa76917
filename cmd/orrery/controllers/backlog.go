package controllers

import (
	"context"
	"math"
	"sync"
	"time"

	"orrery/internal/app/status"
	"orrery/internal/observe/logs"
	"orrery/nsctl"
)

const (
	// backlogCheck is how often the queue is looked at.
	backlogCheck = 5 * time.Second
	// backlogLine is how often a backlog is logged.
	backlogLine = time.Minute
)

// backlog measures how fast namespaces go while more are terminating than there are workers:
// without it, nothing says for how long the others are going to wait.
type backlog struct {
	logger   *logs.Logger
	waiting  func() int // namespaces that wait for a worker
	deleting func() int // namespaces that are terminating

	mu    sync.Mutex // guards the fields below
	since time.Time  // zero: nothing waits
	gone  int        // since then
	marks []mark     // the last minute, the oldest first
}

// mark is how many namespaces had gone at a moment.
type mark struct {
	at   time.Time
	gone int
}

// trace returns the hook that counts.
func (b *backlog) trace() *nsctl.Trace {
	return &nsctl.Trace{Gone: func(string, time.Duration) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.gone++
	}}
}

// run measures and logs until ctx ends.
func (b *backlog) run(ctx context.Context) {
	ticker := time.NewTicker(backlogCheck)
	defer ticker.Stop()
	logged := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now, waiting := time.Now(), b.waiting()
		if b.check(now, waiting) {
			logged = now
		}
		if waiting == 0 || now.Sub(logged) < backlogLine {
			continue
		}
		logged = now
		progress := b.progress()
		line := b.logger.Info().Int("waiting", waiting).
			Int("done", progress.Done).Int("of", progress.Of).Float64("per_s", progress.PerSecond)
		if progress.LeftSeconds > 0 {
			line = line.Int("left_s", progress.LeftSeconds)
		}
		line.Msg("namespaces wait for a worker")
	}
}

// check notes where the backlog stands and reports whether it begins.
func (b *backlog) check(now time.Time, waiting int) (begins bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if waiting == 0 {
		b.since, b.marks = time.Time{}, nil
		return false
	}
	if begins = b.since.IsZero(); begins {
		b.since, b.gone = now, 0
	}
	for len(b.marks) > 1 && now.Sub(b.marks[1].at) >= backlogLine {
		b.marks = b.marks[1:]
	}
	b.marks = append(b.marks, mark{now, b.gone})
	return begins
}

// progress returns how far the backlog has come; nil if there is none.
func (b *backlog) progress() *status.Progress {
	deleting, waiting := b.deleting(), b.waiting()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.since.IsZero() {
		return nil
	}
	p := &status.Progress{Done: b.gone, Of: b.gone + deleting}
	first, last := b.marks[0], b.marks[len(b.marks)-1]
	if took := last.at.Sub(first.at).Seconds(); took > 0 {
		rate := float64(last.gone-first.gone) / took
		p.PerSecond = math.Round(rate*100) / 100
		if rate > 0 {
			p.LeftSeconds = int(float64(waiting)/rate) + 1
		}
	}
	return p
}
