package queuebench

import (
	"context"

	"orrery/internal/lab/bench"
)

// PipelineSingly is Pipeline with one key at a time for every subject, also for those that can take and give many at once:
// what somebody gets who changes the queue and nothing else.
func PipelineSingly(ctx context.Context, subject Subject, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
	return Pipeline(ctx, singly{subject}, effort, meter)
}

// singly hides that the queues of a subject are batchers.
type singly struct{ Subject }

func (s singly) New(options Options) Queue { return struct{ Queue }{s.Subject.New(options)} }
