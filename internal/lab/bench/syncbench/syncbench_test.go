package syncbench

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/restclient"
	"orrery/restclient/api"
)

func generate(cfg Config) []Pod {
	var pods []Pod
	g := NewGenerator(cfg)
	for pod, more := g.Next(); more; pod, more = g.Next() {
		pods = append(pods, pod)
	}
	return pods
}

func digestOf(pods []Pod) Digest {
	var d Digest
	for i := range pods {
		d.Add(&pods[i])
	}
	return d
}

func TestGenerator(t *testing.T) {
	pods := generate(Config{Objects: 1000, Seed: 1})
	require.Len(t, pods, 1000)
	names, deployed := map[string]bool{}, map[string]int{}
	for i := range pods {
		names[pods[i].Namespace+"/"+pods[i].Name] = true
		deployed[pods[i].Owners[0].UID]++
		size := len(headJSON(&pods[i]))
		assert.True(t, 2000 < size && size < 4000, "%d bytes", size)
		assert.True(t, strings.HasPrefix(pods[i].Name, pods[i].GenerateName))
	}
	assert.Len(t, names, 1000)
	assert.Len(t, deployed, 200)
	assert.Equal(t, digestOf(pods), digestOf(generate(Config{Objects: 1000, Seed: 1})), "the same seed makes the same pods")
	assert.NotEqual(t, digestOf(pods), digestOf(generate(Config{Objects: 1000, Seed: 2})))
}

func TestGeneratorPads(t *testing.T) {
	for _, pod := range generate(Config{Objects: 50, ObjectSize: 5000}) {
		assert.Len(t, headJSON(&pod), 5000)
	}
}

// The digest covers everything, in any order.
func TestDigest(t *testing.T) {
	pods := generate(Config{Objects: 20})
	backwards := make([]Pod, 0, 20)
	for i := range pods {
		backwards = append(backwards, pods[len(pods)-1-i])
	}
	whole := digestOf(pods)
	assert.Equal(t, whole, digestOf(backwards))
	assert.NotEqual(t, whole, digestOf(pods[1:]))
	for name, change := range map[string]func(*Pod){
		"name": func(p *Pod) { p.Name += "x" }, "generation": func(p *Pod) { p.Generation++ }, "created": func(p *Pod) { p.Created++ },
		"labels": func(p *Pod) { p.Labels = map[string]string{"a": "b"} }, "annotations": func(p *Pod) { delete(p.Annotations, "prometheus.io/port") },
		"owner": func(p *Pod) { p.Owners[0].Controller = false }, "no owner": func(p *Pod) { p.Owners = nil },
	} {
		changed := generate(Config{Objects: 20})
		change(&changed[7])
		assert.NotEqual(t, whole, digestOf(changed), name)
	}
}

// serveHere serves in this process.
func serveHere(t *testing.T, cfg Config) (url string, pods *store) {
	pods = newStore(cfg)
	server := httptest.NewServer(pods)
	t.Cleanup(server.Close)
	return server.URL, pods
}

// This project's client reads the generated pods back, whole and in pages.
func TestServer(t *testing.T) {
	for name, cfg := range map[string]Config{
		"whole": {Objects: 30}, "padded": {Objects: 30, ObjectSize: 4000},
		"pages": {Objects: 30, PageSize: 7}, "full pages": {Objects: 30, PageSize: 10},
	} {
		t.Run(name, func(t *testing.T) {
			url, pods := serveHere(t, cfg)
			informer, err := Orrery().Start(url)
			require.NoError(t, err)
			defer informer.Stop()
			require.NoError(t, informer.WaitForSync(t.Context()))
			proof, err := prove(t.Context(), informer, pods.digest, nil)
			require.NoError(t, err)
			assert.Equal(t, "30 pods in the cache and delivered to the handler, digest "+pods.digest.String(), proof)
			assert.Equal(t, digestOf(generate(cfg)).String(), pods.digest.String())
		})
	}
}

func TestPages(t *testing.T) {
	url, _ := serveHere(t, Config{Objects: 25, PageSize: 10})
	client, err := restclient.New(restclient.Config{Host: url})
	require.NoError(t, err)
	defer client.Close()
	pods := restclient.Metadata(client, api.PodsResource, "")
	var sizes []int
	var remaining []int64
	options := api.ListOptions{Limit: 500}
	for {
		page, err := pods.List(t.Context(), options)
		require.NoError(t, err)
		sizes = append(sizes, len(page.Items))
		if page.Continue == "" {
			break
		}
		remaining = append(remaining, *page.RemainingItemCount)
		options.Continue = page.Continue
	}
	assert.Equal(t, []int{10, 10, 5}, sizes)
	assert.Equal(t, []int64{15, 5}, remaining)
}

func TestServerRefuses(t *testing.T) {
	url, _ := serveHere(t, Config{Objects: 1})
	ask := func(path, accept string) (int, map[string]any) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, nil)
		require.NoError(t, err)
		r.Header.Set("Accept", accept)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer answer.Body.Close()
		var status map[string]any
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&status))
		return answer.StatusCode, status
	}
	for _, c := range []struct {
		path, accept, reason string
		code                 int
	}{
		{"/api/v1/secrets", jsonType, "NotFound", 404},
		{"/api/v1/pods", "application/vnd.kubernetes.protobuf", "NotAcceptable", 406},
		{"/api/v1/pods?continue=99", jsonType, "BadRequest", 400},
		{"/api/v1/pods?watch=true&sendInitialEvents=true", jsonType, "Invalid", 422},
	} {
		code, status := ask(c.path, c.accept)
		assert.Equal(t, c.code, code, c.path)
		assert.Equal(t, c.reason, status["reason"], c.path)
		assert.Equal(t, "Status", status["kind"])
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestRun(t *testing.T) {
	meter := &bench.Meter{}
	result, err := Run(t.Context(), Orrery(), &Config{Objects: 500, ObjectSize: 3000, PageSize: 200}, meter)
	require.NoError(t, err)
	require.Len(t, result.Proof, 1)
	assert.Contains(t, result.Proof[0], "500 pods in the cache")
	for _, name := range []string{"synced", "time to sync", "processor time", "live heap", "bytes received"} {
		figure, ok := result.Figure(name)
		assert.True(t, ok, name)
		assert.Positive(t, figure.Value, name)
	}
	assert.Equal(t, "comparing", meter.Phase().Name)
}

// The textbook gears sync the same pods.
func TestTheTextbook(t *testing.T) {
	fast, err := Run(t.Context(), Orrery(), &Config{Objects: 300}, nil)
	require.NoError(t, err)
	textbook, err := Run(t.Context(), Textbook(), &Config{Objects: 300}, nil)
	require.NoError(t, err)
	assert.Equal(t, fast.Proof, textbook.Proof)
}

func TestScenarios(t *testing.T) {
	for _, s := range Scenarios(Orrery()) {
		outcome, err := s.Run(t.Context(), bench.Quick)
		require.NoError(t, err)
		assert.Contains(t, outcome.Proof, "20000 pods in the cache")
		for _, name := range []string{"cpu s", "wall s", "live MiB"} {
			assert.Positive(t, outcome.Figures[name], name)
		}
	}
}

// faulty is a subject with a fault.
type faulty struct {
	Subject
	fault func(Informer) Informer
}

func (f faulty) Start(url string) (Informer, error) {
	informer, err := f.Subject.Start(url)
	if err != nil {
		return nil, err
	}
	return f.fault(informer), nil
}

type loses struct{ Informer }

func (l loses) Each(visit func(Pod) error) error {
	first := true
	return l.Informer.Each(func(p Pod) error {
		if first {
			first = false
			return nil
		}
		return visit(p)
	})
}

type changes struct{ Informer }

func (c changes) Each(visit func(Pod) error) error {
	return c.Informer.Each(func(p Pod) error {
		if p.ResourceVersion == "1000000" {
			p.Generation++
		}
		return visit(p)
	})
}

type silent struct{ Informer }

func (s silent) Added() int { return s.Informer.Added() - 1 }

func TestRunDetectsMissingWork(t *testing.T) {
	for name, fault := range map[string]func(Informer) Informer{
		"loses a pod":          func(i Informer) Informer { return loses{i} },
		"changes a pod":        func(i Informer) Informer { return changes{i} },
		"handler gets nothing": func(i Informer) Informer { return silent{i} },
	} {
		_, err := Run(t.Context(), faulty{Orrery(), fault}, &Config{Objects: 50}, nil)
		var proof *bench.ProofError
		assert.ErrorAs(t, err, &proof, name)
	}
}

var errNoSubject = errors.New("no")

type broken struct{ Subject }

func (broken) Start(string) (Informer, error) { return nil, errNoSubject }

func TestRunOfASubjectThatDoesNotStart(t *testing.T) {
	_, err := Run(t.Context(), broken{Orrery()}, &Config{Objects: 5}, nil)
	assert.ErrorIs(t, err, errNoSubject)
}

// stuck never syncs.
type stuck struct {
	Informer
	waiting chan struct{}
}

func (s stuck) WaitForSync(ctx context.Context) error {
	close(s.waiting)
	<-ctx.Done()
	return ctx.Err()
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan struct{})
	go func() {
		<-waiting
		cancel()
	}()
	_, err := Run(ctx, faulty{Orrery(), func(i Informer) Informer { return stuck{i, waiting} }}, &Config{Objects: 5},
		&bench.Meter{})
	assert.ErrorIs(t, err, context.Canceled)

	_, err = Run(ctx, Orrery(), &Config{Objects: 5}, nil)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestServe(t *testing.T) {
	in, end := io.Pipe()
	said, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(Config{Objects: 3}, in, out) }()
	var greeting hello
	require.NoError(t, json.NewDecoder(said).Decode(&greeting))
	assert.Equal(t, 3, greeting.Digest.Pods)
	answer, err := http.Get(greeting.URL + "/api/v1/pods")
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	require.NoError(t, err)
	assert.EqualValues(t, greeting.Bytes, len(body))
	end.Close()
	assert.NoError(t, <-served, "it ends when its input does")
	http.DefaultClient.CloseIdleConnections()

	closed, _ := io.Pipe()
	closed.Close()
	ears, mouth := io.Pipe()
	ears.CloseWithError(errNoSubject)
	assert.ErrorIs(t, Serve(Config{Objects: 1}, closed, mouth), errNoSubject)
}

// counting is an informer with a fixed count.
type counting struct {
	Informer
	added atomic.Int64
	asked chan struct{}
}

func (c *counting) Added() int {
	select {
	case c.asked <- struct{}{}:
	default:
	}
	return int(c.added.Load())
}

func TestFollow(t *testing.T) {
	var meter bench.Meter
	meter.Begin("syncing", "pods", 0, 10)
	informer := &counting{asked: make(chan struct{})}
	informer.added.Store(7)
	done := follow(informer, &meter)
	<-informer.asked
	done()
	assert.EqualValues(t, 7, meter.Phase().Done)
}

// The tests restart this program as the server, as every program with the benchmark does.
func TestMain(m *testing.M) {
	ServeIfAsked()
	os.Exit(m.Run())
}
