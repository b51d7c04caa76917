package stage

import (
	"context"
	"strings"
	"time"

	"orrery/deltafifo"
	"orrery/examples/worker"
	"orrery/informer"
	"orrery/internal/lab/demo/story"
	"orrery/internal/lab/view"
	"orrery/queue"
	"orrery/restclient/api"
)

// Plain configures a plain controller of the configmaps: an informer, a handler that queues keys,
// and workers. Its client repeats no request by itself. The zero value is useful.
type Plain struct {
	// Reads: a pass reads its configmap from the server with the controller's client. Otherwise it
	// succeeds at once.
	Reads bool
	// Workers are the workers; 0: worker.Config's default.
	Workers int
	// FirstDelay is that of a failed key, which doubles up to LongestDelay; 0: worker.Config's
	// default.
	FirstDelay, LongestDelay time.Duration
	// Resync is the informer's period. The controller's own handler is never resynced.
	Resync time.Duration
	// QueueTrace observes the informer's queue; it may be nil.
	QueueTrace *deltafifo.Trace[*api.PartialObjectMetadata]
}

// PlainController is the name of the controller's handler.
const PlainController = "controller"

// StartPlain starts a plain controller on a bare stage and waits for the informer's first list.
// It ends with the stage. An item may wait at a gate for long, so a pass has no time limit.
func (s *Stage) StartPlain(ctx context.Context, config Plain) error {
	once := s.config
	once.Server.MaxRetries = -1
	client, err := newClient(once, story.Spectators, nil)
	if err != nil {
		return err
	}
	s.added = append(s.added, client)
	const name = "configmaps"
	made := s.NewInformer(client, informer.Config[*api.PartialObjectMetadata]{ResyncPeriod: config.Resync, QueueTrace: config.QueueTrace})
	var pool *worker.Pool
	registered, err := made.AddEventHandlerWithOptions(informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{
		AddFunc:    func(o *api.PartialObjectMetadata, _ bool) { pool.Add(keyOf(o)) },
		UpdateFunc: func(_, o *api.PartialObjectMetadata) { pool.Add(keyOf(o)) },
		DeleteFunc: func(deleted informer.DeletedObject[*api.PartialObjectMetadata]) { pool.Add(deleted.Key) },
	}, informer.HandlerOptions{Name: PlainController, ResyncPeriod: -1})
	if err != nil {
		return err
	}
	var limiter queue.RateLimiter[string]
	if config.FirstDelay > 0 {
		limiter = queue.NewItemExponentialFailureRateLimiter[string](config.FirstDelay, config.LongestDelay)
	}
	r := s.config.Recorder
	pool = worker.New(worker.Config{
		Name: name, Workers: config.Workers, RateLimiter: limiter, PassTimeout: s.config.passTimeout(), DrainTimeout: time.Second,
		Reconcile: func(ctx context.Context, key string) (time.Duration, error) {
			if !config.Reads {
				return 0, nil
			}
			_, name, _ := strings.Cut(key, "/")
			_, err := s.ConfigMaps(client).Get(ctx, name, api.GetOptions{})
			return 0, err
		},
		Keys:     made.GetIndexer().ListKeys,
		Synced:   []informer.InformerSynced{registered.HasSynced},
		NewQueue: view.NewQueue(s.config.Gates, name, s.config.Gears.NewQueue), QueueTrace: r.Queue(name),
	})
	if err := s.RunInformer(ctx, made); err != nil {
		return err
	}
	s.running.Go(func() { pool.Run(s.slowCtx, s.slowCtx) })
	return nil
}

func keyOf(o *api.PartialObjectMetadata) string { return o.Namespace + "/" + o.Name }
