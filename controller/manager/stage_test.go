package manager_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orrery/controller"
	"orrery/controller/gears"
	"orrery/controller/manager"
	"orrery/informer"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/clustertest"
	"orrery/internal/observe/logs"
	"orrery/internal/observe/metrics"
	"orrery/restclient"
	"orrery/restclient/api"
)

// stage is the API server in memory with a manager at the other end of a pipe, in a synctest
// bubble.
type stage struct {
	*clustertest.Cluster
	t       *testing.T
	metrics *metrics.Metrics

	watches clustertest.Watches
	log     clustertest.Buffer
}

func inBubble(t *testing.T, play func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { play(newStage(t)) })
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, metrics: metrics.New("test")}
	s.Cluster = clustertest.Start(t, apiserver.Config{NoKubelet: true}, s.watches.Counted)
	return s
}

func (s *stage) shared() manager.Shared {
	client := s.Client(func(c *restclient.Config) {
		c.UserAgent = "orrery/test"
		c.MaxListBytes = 10 // controllers list page by page; informers have no such limit
	})
	return manager.Shared{
		Client: client, QPS: -1, Events: true,
		Logger: logs.New(logs.Config{Writer: &s.log}), Metrics: s.metrics,
	}
}

// show is a manager that runs.
type show struct {
	*manager.Manager
	work  func() // it leads
	stop  func() // the controllers finish
	ended <-chan error
	end   func() // ends everything and waits for it
}

// standBy runs the controllers, which stand by until work is called.
func (s *stage) standBy(shared manager.Shared, chosen ...manager.Descriptor) *show {
	s.t.Helper()
	alive, kill := context.WithCancel(s.t.Context())
	stopped, stop := context.WithCancel(s.t.Context())
	leads := make(chan struct{})
	shared.Lead = func(ctx context.Context, work func(alive context.Context)) error {
		select {
		case <-leads:
			work(alive)
		case <-ctx.Done():
		}
		return nil
	}
	m, ended := manager.NewManager(shared, chosen), make(chan error, 1)
	go func() { ended <- m.Run(stopped) }()
	later(time.Second) // the stores are filled
	return &show{m, func() { close(leads) }, stop, ended, func() {
		kill()
		stop()
		<-ended
	}}
}

// begin runs the controllers, which work.
func (s *stage) begin(shared manager.Shared, chosen ...manager.Descriptor) *show {
	s.t.Helper()
	made := s.standBy(shared, chosen...)
	made.work()
	synctest.Wait()
	return made
}

// thing is an object of whatever type.
type thing struct {
	api.TypeMeta   `json:",inline"`
	api.ObjectMeta `json:"metadata"`
}

var (
	configMaps = api.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets    = api.GroupVersionResource{Version: "v1", Resource: "secrets"}
	gizmos     = api.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gizmos"}
)

// tiny is a controller of the test's own: it records the keys of the objects of its passes.
type tiny struct {
	*controller.Pool
	client *restclient.Client

	mu     sync.Mutex
	passed []string
}

func (c *tiny) RunWithin(stop, alive context.Context) { c.Run(stop, alive) }

func (c *tiny) seen() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.passed)
}

// describe returns a tiny controller of these resources. before is called in each pass.
func (c *tiny) describe(name string, before func(ctx context.Context, key string),
	resources ...api.GroupVersionResource) manager.Descriptor {
	return manager.Descriptor{Name: name, Needs: resources,
		New: func(shared manager.ControllerContext) (manager.Controller, error) {
			c.client = shared.Client
			var informers []*informer.SharedIndexInformer[*thing]
			for _, resource := range resources {
				informers = append(informers, manager.InformerFor(shared, resource,
					func(t *thing) *api.ObjectMeta { return &t.ObjectMeta }))
			}
			config := shared.WorkerConfig(name)
			config.Keys = func() (keys []string) {
				for _, i := range informers {
					keys = append(keys, i.GetIndexer().ListKeys()...)
				}
				return keys
			}
			config.Reconcile = func(ctx context.Context, key string) (time.Duration, error) {
				if before != nil {
					before(ctx, key)
				}
				c.mu.Lock()
				defer c.mu.Unlock()
				c.passed = append(c.passed, key)
				return 0, ctx.Err()
			}
			for _, i := range informers {
				registration, err := i.AddEventHandler(informer.ResourceEventHandlerFuncs[*thing]{
					AddFunc:    func(t *thing, _ bool) { c.Add(t.Namespace + "/" + t.Name) },
					UpdateFunc: func(_, t *thing) { c.Add(t.Namespace + "/" + t.Name) },
				})
				if err != nil {
					return nil, err
				}
				config.Synced = append(config.Synced, registration.HasSynced)
			}
			c.Pool = controller.NewPool(config)
			return c, nil
		}}
}

func (s *stage) createConfigMap(name string) {
	s.t.Helper()
	s.Must(http.MethodPost, "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"`+name+`"}}`)
	synctest.Wait()
}

// metric returns the lines of the metrics that begin like this.
func (s *stage) metric(prefix string) (lines []string) {
	s.t.Helper()
	answer := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	s.metrics.Handler().ServeHTTP(answer, request)
	for line := range strings.Lines(answer.Body.String()) {
		if strings.HasPrefix(line, prefix) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// eachGears runs a test with both sets of gears.
func eachGears(t *testing.T, play func(s *stage, shared manager.Shared)) {
	t.Helper()
	clustertest.WithEachGears(t, func(t *testing.T, set gears.Set) {
		s := newStage(t)
		shared := s.shared()
		shared.Gears = set
		play(s, shared)
	})
}

// later lets time pass, and what has become due happen.
func later(limit time.Duration) {
	time.Sleep(limit)
	synctest.Wait()
}
