package chaos

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"orrery/internal/lab/faultnet"
	"orrery/upstream/controlplane"
)

// fault is a kind of disturbance.
type fault struct {
	name    string
	weight  int // relative frequency
	longest time.Duration
	places  func(*Plan) []string
	// begin starts the fault and returns the function that ends it, or nil if it has already ended.
	begin func(ctx context.Context, r *run, s Step) (end func(context.Context) error, err error)
}

// The faults. If a fault of a door overlaps with itself, the first end ends both, which is
// harmless.
var catalogue []fault

func init() {
	catalogue = []fault{
		// On the link, which knows only bytes.
		linkFault("cut", 3, time.Second, func(d *door, _ int) { d.link.Cut() }, nil),
		linkFault("black hole", 4, 15*time.Second, func(d *door, _ int) { d.link.BlackHole(true) }, func(d *door) { d.link.BlackHole(false) }),
		linkFault("black hole to the server", 1, 10*time.Second, func(d *door, _ int) { d.link.BlackHole(true, faultnet.Sent) }, func(d *door) { d.link.BlackHole(false) }),
		linkFault("black hole from the server", 1, 10*time.Second, func(d *door, _ int) { d.link.BlackHole(true, faultnet.Received) }, func(d *door) { d.link.BlackHole(false) }),
		linkFault("stall", 3, 15*time.Second, func(d *door, _ int) { d.link.Stall(true) }, func(d *door) { d.link.Stall(false) }),
		linkFault("delay", 2, 10*time.Second,
			func(d *door, n int) { d.link.Delay(time.Duration(n)*5*time.Millisecond, 50*time.Millisecond) }, func(d *door) { d.link.Delay(0, 0) }),
		linkFault("drip", 2, 8*time.Second, func(d *door, n int) { d.link.Drip(n * 100) }, func(d *door) { d.link.Drip(0) }),
		linkFault("half-close", 2, time.Second, func(d *door, _ int) { d.link.HalfClose() }, nil),
		linkFault("cut after some bytes", 2, 8*time.Second, func(d *door, n int) { d.link.CutAfter(int64(n) * 1000) }, func(d *door) { d.link.CutAfter(-1) }),
		linkFault("corruption", 2, 6*time.Second, func(d *door, n int) { d.link.Corrupt(int64(n) * 500) }, func(d *door) { d.link.Corrupt(0) }),
		linkFault("handshakes that break", 1, 8*time.Second, func(d *door, n int) { d.link.CutAfter(int64(n) * 20); d.link.Cut() }, func(d *door) { d.link.CutAfter(-1) }),
		linkFault("handshakes without an answer", 1, 15*time.Second, func(d *door, _ int) { d.link.Cut(); d.link.BlackHole(true, faultnet.Received) }, func(d *door) { d.link.BlackHole(false) }),
		linkFault("refused connections", 2, 8*time.Second, func(d *door, _ int) { d.link.Refuse(true); d.link.Cut() }, func(d *door) { d.link.Refuse(false) }),

		// In HTTP, where requests, answers and events are known.
		refusalFault("429 with Retry-After", http.StatusTooManyRequests, 1),
		refusalFault("429", http.StatusTooManyRequests, 0),
		refusalFault("500", http.StatusInternalServerError, 0),
		refusalFault("503", http.StatusServiceUnavailable, 0),
		httpFault("slow answers", 2, func(f *httpFaults, n int) { f.slow = time.Duration(n) * 20 * time.Millisecond }, func(f *httpFaults) { f.slow = 0 }),
		httpFault("lost answers", 3, func(f *httpFaults, n int) { f.lose = float64(n) / 150 }, func(f *httpFaults) { f.lose = 0 }),
		httpFault("expired continue tokens", 2, func(f *httpFaults, _ int) { f.expireContinue = true }, func(f *httpFaults) { f.expireContinue = false }),
		answersFault("a proxy's page in place of answers", htmlAnswers),
		answersFault("redirections", redirects),
		answersFault("empty answers", emptyAnswers),
		answersFault("answers of another type", mistypedAnswers),
		answersFault("answers that break off", cutAnswers),
		answersFault("connections that say farewell", farewells),
		linkFault("only HTTP/1.1", 2, 10*time.Second, func(d *door, _ int) { d.oldProtocol.Store(true); d.link.Cut() }, func(d *door) { d.oldProtocol.Store(false) }),
		streamFault("bookmarks withheld", func(f *streamFaults, _ int) { f.withholdBookmarks = true }),
		streamFault("duplicate events", func(f *streamFaults, n int) { f.duplicateEvery = 1 + n/20 }),
		streamFault("watches that end early", func(f *streamFaults, n int) { f.endAfter = 1 + n/4 }),
		streamFault("watches that end with an error", func(f *streamFaults, n int) {
			f.errorAfter, f.errorCode = 1+n/4, []int{500, 504, 429, 418, 403, 599, 0}[n%7]
		}),
		streamFault("bookmarks without a version", func(f *streamFaults, _ int) { f.emptyBookmarks = true }),
		streamFault("events in pieces", func(f *streamFaults, n int) { f.pieces = 1 + n/5 }),
		streamFault("watches that break off", func(f *streamFaults, n int) { f.breakAfter = 1 + n/4 }),

		// At the control plane.
		serverFault("restart of kube-apiserver", 2, func(ctx context.Context, r *run, _ Step) error { return r.cluster.RestartAPIServer(ctx) }),
		serverFault("crash of kube-apiserver", 2, func(ctx context.Context, r *run, s Step) error {
			r.cluster.KillAPIServer()
			pause(ctx, s.For)
			return r.cluster.StartAPIServer(ctx)
		}),
		serverFault("loss of history", 2, func(ctx context.Context, r *run, _ Step) error { return r.cluster.ForgetHistory(ctx) }),
		serverFault("compaction of etcd", 2, func(ctx context.Context, r *run, _ Step) error {
			_, err := r.cluster.CompactEtcd(ctx)
			return err
		}),
		serverFault("kube-controller-manager killed", 1, func(ctx context.Context, r *run, s Step) error {
			r.cluster.KillControllerManager()
			pause(ctx, s.For)
			return r.cluster.replaceControllerManager(ctx)
		}),
		longer(20*time.Second, serverFault("kube-apiserver frozen", 1, func(ctx context.Context, r *run, s Step) error {
			return r.cluster.freeze(ctx, controlplane.APIServer, s.For)
		})),
		longer(20*time.Second, serverFault("etcd frozen", 1, func(ctx context.Context, r *run, s Step) error {
			return r.cluster.freeze(ctx, controlplane.Etcd, s.For)
		})),
		serverFault("crash of etcd", 1, func(ctx context.Context, r *run, s Step) error {
			r.cluster.KillEtcd()
			pause(ctx, s.For)
			return r.cluster.StartEtcd(ctx)
		}),
		obstacleFault("deletions denied", func(int, int) obstacle { return denial() }),
		obstacleFault("a webhook that does not answer", func(port, n int) obstacle { return silentWebhook(fmt.Sprintf("127.0.0.1:%d", port), 1+n%5) }),
		obstacleFault("an API without a server", func(port, _ int) obstacle { return lostAPI(port) }),
		{name: "rights taken away", weight: 2, longest: 5 * time.Second, places: func(*Plan) []string { return []string{atRights} },
			begin: func(ctx context.Context, r *run, _ Step) (func(context.Context) error, error) {
				return r.cluster.grant, r.cluster.revoke(ctx)
			}},

		// On the processes of orrery.
		replicaFault("killed", 3, 3*time.Second, func(ctx context.Context, p *replica, s Step) error {
			p.kill()
			pause(ctx, s.For)
			return p.start()
		}),
		replicaFault("terminated", 2, 3*time.Second, func(ctx context.Context, p *replica, s Step) error {
			p.terminate(ctx)
			pause(ctx, s.For)
			return p.start()
		}),
		replicaFault("frozen", 2, 20*time.Second, func(ctx context.Context, p *replica, s Step) error {
			p.freeze(ctx, s.For)
			return nil
		}),
	}
}

// faultNamed returns a kind of fault.
func faultNamed(name string) (fault, bool) {
	for _, f := range catalogue {
		if f.name == name {
			return f, true
		}
	}
	return fault{}, false
}

// doorsOf returns every place with a door, and everywhere.
func doorsOf(p *Plan) []string {
	places := []string{atHTTP, atSocket, everywhere}
	for i := range p.Replicas {
		places = append(places, replicaName(i))
	}
	return places
}

func linkFault(name string, weight int, longest time.Duration, on func(*door, int), off func(*door)) fault {
	return fault{name: name, weight: weight, longest: longest, places: doorsOf,
		begin: func(_ context.Context, r *run, s Step) (func(context.Context) error, error) {
			doors := r.doorsAt(s.Where)
			for _, d := range doors {
				on(d, s.Amount)
			}
			if off == nil {
				return nil, nil
			}
			return func(context.Context) error {
				for _, d := range doors {
					off(d)
				}
				return nil
			}, nil
		}}
}

func httpFault(name string, weight int, on func(*httpFaults, int), off func(*httpFaults)) fault {
	return linkFault(name, weight, 10*time.Second,
		func(d *door, n int) { d.faults.change(func(f *httpFaults) { on(f, n) }) },
		func(d *door) { d.faults.change(off) })
}

func refusalFault(name string, code, retryAfter int) fault {
	return httpFault(name, 2, func(f *httpFaults, n int) {
		f.refuse, f.refuseShare = refusal{code: code, retryAfter: retryAfter * (1 + n%3)}, float64(n)/100
	}, func(f *httpFaults) { f.refuseShare = 0 })
}

func answersFault(name string, what answerFault) fault {
	return httpFault(name, 1, func(f *httpFaults, n int) { f.answer, f.answerShare = what, float64(n)/100 }, func(f *httpFaults) { f.answerShare = 0 })
}

func streamFault(name string, on func(*streamFaults, int)) fault {
	return httpFault(name, 3, func(f *httpFaults, n int) { on(&f.stream, n) }, func(f *httpFaults) { f.stream = streamFaults{} })
}

// serverFault ends when do returns. Only one runs at a time.
func serverFault(name string, weight int, do func(context.Context, *run, Step) error) fault {
	return fault{name: name, weight: weight, longest: 4 * time.Second, places: func(*Plan) []string { return []string{atServer} },
		begin: func(ctx context.Context, r *run, s Step) (func(context.Context) error, error) {
			r.serverMu.Lock()
			defer r.serverMu.Unlock()
			return nil, do(ctx, r, s)
		}}
}

// longer returns the fault with another maximal duration.
func longer(longest time.Duration, f fault) fault {
	f.longest = longest
	return f
}

// obstacleFault creates an obstacle in the cluster and removes it. The port has no answering
// server.
func obstacleFault(name string, what func(port, amount int) obstacle) fault {
	return fault{name: name, weight: 2, longest: 15 * time.Second, places: func(*Plan) []string { return []string{atServer} },
		begin: func(ctx context.Context, r *run, s Step) (func(context.Context) error, error) {
			silence, port, err := silentListener()
			if err != nil {
				return nil, err
			}
			o := what(port, s.Amount)
			r.cluster.place(ctx, o)
			return func(ctx context.Context) error {
				defer silence.Close()
				return r.cluster.clear(ctx, o)
			}, nil
		}}
}

func replicaFault(name string, weight int, longest time.Duration, do func(context.Context, *replica, Step) error) fault {
	return fault{name: name, weight: weight, longest: longest,
		places: func(p *Plan) (places []string) {
			for i := range p.Replicas {
				places = append(places, replicaName(i))
			}
			return places
		},
		begin: func(ctx context.Context, r *run, s Step) (func(context.Context) error, error) {
			p := r.replicaNamed(s.Where)
			p.handling.Lock()
			defer p.handling.Unlock()
			return nil, do(ctx, p, s)
		}}
}

// pause waits until d has passed or the run is cancelled.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
