package faults_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/faults"
	"orrery/restclient/api"
)

var listConfigMaps = faults.Request{
	Verb: "list", Version: "v1", Resource: "configmaps", Namespace: "y", User: "alice",
	Path: "/api/v1/namespaces/y/configmaps",
}

func with(t *testing.T, texts ...string) *faults.Set {
	t.Helper()
	s := faults.New()
	for _, text := range texts {
		_, err := s.Add(text)
		require.NoError(t, err)
	}
	t.Cleanup(s.Stop)
	return s
}

// statusOf returns the StatusError in err, or nil.
func statusOf(err error) *api.StatusError {
	var status *api.StatusError
	errors.As(err, &status)
	return status
}

// The messages are those of kube-apiserver 1.36.
func TestForbidden(t *testing.T) {
	s := with(t, "forbid:user=alice")
	for want, r := range map[string]faults.Request{
		`configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "y"`: listConfigMaps,
		`namespaces "y" is forbidden: User "alice" cannot update resource "namespaces/finalize" in API group "" in the namespace "y"`: {
			Verb: "update", Version: "v1", Resource: "namespaces", Subresource: "finalize", Name: "y"},
		`deployments.apps "q" is forbidden: User "alice" cannot get resource "deployments/status" in API group "apps" in the namespace "y"`: {
			Verb: "get", Group: "apps", Version: "v1", Resource: "deployments", Subresource: "status", Namespace: "y",
			Name: "q"},
		`nodes "q" is forbidden: User "alice" cannot get resource "nodes" in API group "" at the cluster scope`: {
			Verb: "get", Version: "v1", Resource: "nodes", Name: "q"},
		`forbidden: User "alice" cannot get path "/metrics"`: {Verb: "get", Path: "/metrics"},
	} {
		r.User = "alice"
		refused := s.Authorize(r)
		require.NotNil(t, refused, want)
		assert.Equal(t, want, refused.Status.Message)
		assert.Equal(t, http.StatusForbidden, refused.Status.Code)
		assert.Equal(t, api.ReasonForbidden, refused.Status.Reason)
		assert.Equal(t, &api.StatusDetails{Name: r.Name, Group: r.Group, Kind: r.Resource}, refused.Status.Details)
		r.User = "bob"
		assert.Nil(t, s.Authorize(r))
	}
	assert.Nil(t, s.Authorize(faults.Request{Verb: "get", Path: "/livez", User: "alice"}), "health checks are exempt")
}

func TestWebhooks(t *testing.T) {
	write := faults.Request{Verb: "delete", Resource: "configmaps", Namespace: "y", Name: "a"}
	for text, want := range map[string]string{
		`webhook-denies:message="not today"`:     `admission webhook "deny.example.com" denied the request: not today`,
		"webhook-denies:webhook=policy.acme.com": `admission webhook "policy.acme.com" denied the request without explanation`,
		"webhook-unreachable": `Internal error occurred: failed calling webhook "unreachable.example.com": failed to call webhook: ` +
			`Post "https://127.0.0.1:9/?timeout=10s": dial tcp 127.0.0.1:9: connect: connection refused`,
	} {
		s := with(t, text, text)
		refused := statusOf(s.Admit(write))
		require.NotNil(t, refused)
		assert.Equal(t, want, refused.Status.Message)
		assert.Equal(t, 1, s.List()[0].Hits)
		assert.Zero(t, s.List()[1].Hits, "the first refusal wins")
		assert.NoError(t, s.Admit(listConfigMaps), "webhooks are not asked about reads")
		repair := faults.Request{Verb: "delete", Group: "admissionregistration.k8s.io",
			Resource: "validatingwebhookconfigurations"}
		assert.NoError(t, s.Admit(repair), "a broken webhook can be removed")
	}
}

func TestScope(t *testing.T) {
	finalize := faults.Request{Verb: "update", Version: "v1", Resource: "namespaces", Subresource: "finalize",
		Name: "y", User: "bob"}
	watch := listConfigMaps
	watch.Verb = "watch"
	for text, hits := range map[string][]bool{ // listConfigMaps, watch, finalize
		"unavailable":                                       {true, true, true},
		"unavailable:verb=list":                             {true, false, false},
		"unavailable:verb=watch | update":                   {false, true, true},
		"unavailable:resource=namespaces":                   {false, false, false},
		"unavailable:resource=namespaces/finalize|services": {false, false, true},
		"unavailable:group=apps":                            {false, false, false},
		"unavailable:group=core":                            {true, true, true},
		"unavailable:namespace=y":                           {true, true, true},
		"unavailable:namespace=z":                           {false, false, false},
		"unavailable:name=y":                                {false, false, true},
		"unavailable:user=alice":                            {true, true, false},
		"unavailable:user=alice,verb=watch,resource=configmaps,namespace=y,group=core": {false, true, false},
	} {
		s := with(t, text)
		for i, r := range []faults.Request{listConfigMaps, watch, finalize} {
			assert.Equal(t, hits[i], s.Before(t.Context(), r) != nil, "%s, %+v", text, r)
		}
	}
	for _, path := range []string{"/healthz", "/livez/ping", "/readyz", "/debug/faults"} {
		s := with(t, "unavailable")
		assert.Nil(t, s.Before(t.Context(), faults.Request{Verb: "get", Path: path}), path)
	}
}

// The same seed selects the same requests; another share or seed does not.
func TestShares(t *testing.T) {
	pattern := func(text string) (hits string) {
		s := with(t, text)
		for range 1000 {
			if s.Before(t.Context(), listConfigMaps) != nil {
				hits += "x"
			} else {
				hits += "."
			}
		}
		return hits
	}
	third := pattern("unavailable:share=0.3")
	assert.Equal(t, third, pattern("unavailable:share=30%,seed=1"))
	assert.NotEqual(t, third, pattern("unavailable:share=0.3,seed=2"))
	assert.InDelta(t, 300, strings.Count(third, "x"), 60)
}

func TestCount(t *testing.T) {
	update := faults.Request{Verb: "update", Resource: "namespaces", Subresource: "finalize", Name: "y"}
	s := with(t, "conflict", "conflict:count=2")
	assert.Equal(t, []faults.Active{
		{ID: "conflict-1", Kind: "conflict", Text: "conflict", Left: 1},
		{ID: "conflict-2", Kind: "conflict", Text: "conflict:count=2", Left: 2},
	}, s.List())
	assert.False(t, s.Conflict(listConfigMaps), "only updates and patches conflict")
	assert.True(t, s.Conflict(update))
	assert.True(t, s.Conflict(update))
	assert.Equal(t, []faults.Active{{ID: "conflict-2", Kind: "conflict", Text: "conflict:count=2", Hits: 1, Left: 1}},
		s.List())
	update.Verb = "patch"
	assert.True(t, s.Conflict(update))
	assert.False(t, s.Conflict(update))
	assert.Empty(t, s.List())
}

func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := with(t, "silence:for=10s", "stale-reads:versions=5,for=20s", "stale-reads:for=10s", "node-lost:node=a|b",
			"broken-group:for=20s", "broken-group")
		metrics := api.GroupVersion{Group: "metrics.k8s.io", Version: "v1beta1"}
		assert.True(t, s.Active(faults.Silence))
		assert.Equal(t, uint64(10), s.Lag())
		assert.Equal(t, []api.GroupVersion{metrics}, s.Unavailable())
		assert.Equal(t, time.Now().Add(10*time.Second), s.List()[0].Until)
		time.Sleep(10 * time.Second)
		assert.False(t, s.Active(faults.Silence))
		assert.Equal(t, uint64(5), s.Lag())
		assert.Len(t, s.List(), 4)
		assert.True(t, s.NodeLost("b"))
		assert.False(t, s.NodeLost("c"))
		assert.True(t, s.Remove("node-lost-1"))
		assert.False(t, s.Remove("node-lost-1"))
		assert.False(t, s.NodeLost("b"))
	})
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := with(t, "delay:by=2s", "delay:by=500ms", "unavailable:count=1")
		began := time.Now()
		assert.NotNil(t, s.Before(t.Context(), listConfigMaps), "refusals are delayed too")
		assert.Equal(t, 2500*time.Millisecond, time.Since(began))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		assert.Nil(t, s.Before(ctx, listConfigMaps))
		assert.Equal(t, time.Second, time.Since(began), "no delay after the client is gone")
	})
}

// Requests for resources of the group and for the list of its resources fail; the rest of discovery
// works.
func TestBrokenGroup(t *testing.T) {
	s := with(t, "broken-group:group=a.example.com,version=v1")
	refused := func(r faults.Request) bool { return s.Before(t.Context(), r) != nil }
	assert.True(t, refused(faults.Request{Verb: "list", Group: "a.example.com", Version: "v1", Resource: "things"}))
	assert.True(t, refused(faults.Request{Verb: "get", Path: "/apis/a.example.com/v1"}))
	assert.True(t, refused(faults.Request{Verb: "get", Path: "/apis/a.example.com/v1/things"}))
	assert.False(t, refused(faults.Request{Verb: "get", Path: "/apis/a.example.com/v10"}))
	assert.False(t, refused(faults.Request{Verb: "get", Path: "/apis/a.example.com"}))
	assert.False(t, refused(faults.Request{Verb: "get", Path: "/apis"}))
	assert.False(t, refused(listConfigMaps))
}

func TestActions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := with(t)
		var compactions, cuts atomic.Int64
		s.On(faults.Compact, func(faults.Options) { compactions.Add(1) })
		s.On(faults.CutWatches, func(faults.Options) { cuts.Add(1) })
		_, err := s.Add("compact")
		require.NoError(t, err)
		assert.EqualValues(t, 1, compactions.Load())
		id, err := s.Add("cut-watches:every=10s,count=3")
		require.NoError(t, err)
		assert.Equal(t, "cut-watches-1", id)
		assert.EqualValues(t, 1, cuts.Load())
		time.Sleep(time.Hour)
		assert.EqualValues(t, 3, cuts.Load())
		assert.Empty(t, s.List())

		id, err = s.Add("compact:every=1m,for=10m")
		require.NoError(t, err)
		time.Sleep(5*time.Minute + time.Second)
		assert.EqualValues(t, 7, compactions.Load())
		assert.Equal(t, 6, s.List()[0].Hits)
		assert.True(t, s.Remove(id))
		_, err = s.Add("compact:every=1m,count=1")
		require.NoError(t, err)
		_, err = s.Add("compact:every=1m,for=3m30s")
		require.NoError(t, err)
		time.Sleep(time.Hour)
		assert.EqualValues(t, 12, compactions.Load())
		s.Stop()
		_, err = s.Add("compact")
		require.NoError(t, err)
		_, err = s.Add("unavailable")
		require.NoError(t, err)
		assert.EqualValues(t, 12, compactions.Load(), "no action after Stop")
		assert.Nil(t, s.Before(t.Context(), listConfigMaps))
	})
}

// Removing a delay releases the requests that it delays.
func TestRemovedDelayLetsGo(t *testing.T) {
	for name, remove := range map[string]func(s *faults.Set, id string){
		"removed": func(s *faults.Set, id string) { assert.True(t, s.Remove(id)) },
		"stopped": func(s *faults.Set, _ string) { s.Stop() },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := with(t, "delay:by=2s")
			id, err := s.Add("delay:by=1h")
			require.NoError(t, err)
			start, passed := time.Now(), make(chan struct{})
			go func() {
				defer close(passed)
				assert.Nil(t, s.Before(t.Context(), listConfigMaps))
			}()
			time.Sleep(10 * time.Second)
			remove(s, id)
			<-passed
			assert.Equal(t, 10*time.Second, time.Since(start), name)
		})
	}
}

// A delay that has reached its count still delays the last request counted.
func TestDelayOutlivesItsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := with(t, "delay:by=3s,count=1")
		start, passed := time.Now(), make(chan struct{})
		go func() {
			defer close(passed)
			assert.Nil(t, s.Before(t.Context(), listConfigMaps))
		}()
		synctest.Wait()
		assert.Empty(t, s.List())
		assert.Nil(t, s.Before(t.Context(), listConfigMaps))
		<-passed
		assert.Equal(t, 3*time.Second, time.Since(start))
	})
}

// Errors say what would be valid.
func TestMistakes(t *testing.T) {
	for text, words := range map[string]string{
		"":                                     `unknown kind ""; the kinds are cut-watches, compact, silence`,
		":by=1s":                               `unknown kind ""`,
		"dealy":                                `unknown kind "dealy"; the kinds are cut-watches, compact, silence`,
		"delay:":                               `options after the colon must be name=value, separated by commas, not ""`,
		"delay:by":                             `not "by"`,
		"delay:by,for=1s":                      `not "by,for=1s"`,
		"delay:by=":                            "the option by has no value",
		"delay:by=1s,":                         `not ""`,
		"delay:how=1s":                         `delay has no option "how"; its options are by, verb, group`,
		"delay:by=1s,by=2s":                    "duplicate option by",
		"keeps-creating:namespace=a|b":         "namespace=a|b: must be a single name",
		"delay:by=1":                           "by=1: must be a duration such as 300ms, 10s or 2m",
		"delay:by=-1s":                         "must be a duration",
		"delay:count=0":                        "count=0: must be an integer, 1 or more",
		"delay:count=99999999999":              "must be an integer",
		"delay:share=0":                        "share=0: must be more than 0 and at most 1, or a percentage",
		"delay:share=101%":                     "must be more than 0",
		"delay:share=NaN":                      "must be more than 0",
		"delay:verb=list|":                     "verb=list|: must be names with a | between them",
		"delay:verb=\x07":                      "has control characters",
		"too-many-requests:retry-after=1500ms": "retry-after must be whole seconds",
		"withhold-bookmarks:which=some":        "which=some: must be regular, initial or all",
		"forbid":                               "it needs at least one of verb, group",
		"forbid:count=3":                       "it needs at least one of verb, group",
		"compact:count=2":                      "without every it happens once",
		"compact:verb=list":                    `compact has no option "verb"`,
		"broken-group:group=a/v1":              "group and version must each be a single name",
		`webhook-denies:message="a`:            `must be name=value, separated by commas, not "message=`,
		`webhook-denies:message="a\n"`:         "has control characters",
		`webhook-denies:message="\z"`:          "the value of message is not a quoted text",
		`webhook-denies:message="a"b`:          `must be name=value, separated by commas, not "message=`,
	} {
		s := faults.New()
		_, err := s.Add(text)
		var syntax *faults.SyntaxError
		if assert.ErrorAs(t, err, &syntax, "%q", text) {
			assert.Equal(t, text, syntax.Text)
			assert.Contains(t, err.Error(), words)
		}
		assert.Empty(t, s.List(), "%q added a fault", text)
	}
}

// The help shows the usage of each kind, which must be valid.
func TestCatalogue(t *testing.T) {
	kinds := faults.Catalogue()
	assert.Len(t, kinds, 27)
	for _, kind := range kinds {
		s := faults.New()
		_, err := s.Add(kind.Usage)
		assert.NoError(t, err)
		s.Stop()
		for _, text := range []string{kind.Summary, kind.Teaches} {
			assert.Regexp(t, `^[A-Z].*\.$`, text, kind.Name)
		}
		assert.Contains(t, kind.Usage, kind.Name)
	}
	kinds[0].Name = "changed"
	assert.NotEqual(t, "changed", faults.Catalogue()[0].Name, "Catalogue returns a copy")
}

func FuzzAdd(f *testing.F) {
	for _, kind := range faults.Catalogue() {
		f.Add(kind.Usage)
	}
	f.Add(`webhook-denies:message="a\\",count=3`)
	f.Fuzz(func(t *testing.T, text string) {
		s := faults.New()
		defer s.Stop()
		id, err := s.Add(text)
		if err != nil {
			var syntax *faults.SyntaxError
			require.ErrorAs(t, err, &syntax)
			require.Equal(t, text, syntax.Text)
			require.NotEmpty(t, syntax.Problem)
			require.Empty(t, s.List())
			return
		}
		require.NotEmpty(t, id)
	})
}
