package contract

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"

	"orrery/controller/events"
	"orrery/internal/lab/apiserver"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// note is one recorded event.
type note struct {
	object  string
	kind    string
	reason  string
	message string
	after   time.Duration // since the one before
}

// recorders are ours and the original, each with its own server in one bubble.
var recorders = map[string]func(client *restclient.Client) (note func(note), stop func()){
	"orrery": func(client *restclient.Client) (func(note), func()) {
		recorder := events.Start(events.Config{Client: client, Component: "test", Instance: "host-1"})
		return func(n note) {
			object := api.ObjectReference{Kind: "Namespace", APIVersion: "v1", Name: n.object, UID: n.object}
			recorder.Event(context.Background(), object, api.EventType(n.kind), n.reason, n.message)
		}, func() { recorder.Stop(time.Minute) }
	},
	"client-go": func(client *restclient.Client) (func(note), func()) {
		broadcaster := record.NewBroadcaster()
		broadcaster.StartRecordingToSink(eventSink{client})
		recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "test", Host: "host-1"})
		return func(n note) {
			object := &corev1.ObjectReference{Kind: "Namespace", APIVersion: "v1", Name: n.object,
				UID: types.UID(n.object)}
			recorder.Event(object, n.kind, n.reason, n.message)
		}, broadcaster.Shutdown
	},
}

// eventSink is the original's sink: a server, through our client, which works in a bubble.
type eventSink struct{ client *restclient.Client }

func (s eventSink) Create(event *corev1.Event) (*corev1.Event, error) {
	return s.send(restclient.Request{Verb: "POST", Path: "/api/v1/namespaces/" + event.Namespace + "/events"}, event)
}

func (s eventSink) Update(event *corev1.Event) (*corev1.Event, error) {
	return s.send(restclient.Request{Verb: "PUT",
		Path: "/api/v1/namespaces/" + event.Namespace + "/events/" + event.Name}, event)
}

func (s eventSink) Patch(event *corev1.Event, patch []byte) (*corev1.Event, error) {
	return s.send(restclient.Request{Verb: "PATCH",
		Path:        "/api/v1/namespaces/" + event.Namespace + "/events/" + event.Name,
		ContentType: string(api.StrategicMergePatchType)}, json.RawMessage(patch))
}

func (s eventSink) send(request restclient.Request, body any) (*corev1.Event, error) {
	var err error
	if request.Body, err = json.Marshal(body); err != nil {
		return nil, err
	}
	answer := &corev1.Event{}
	err = s.client.Do(context.Background(), request, answer)
	return answer, err
}

// stored plays the notes and returns the server's Events without their names.
func stored(t *testing.T, recorder string, notes []note) []string {
	var found []string
	synctest.Test(t, func(t *testing.T) {
		server, err := apiserver.New(apiserver.Config{})
		require.NoError(t, err)
		link := restclienttest.NewServer(t, server.Handler())
		client := link.Client(func(c *restclient.Config) { c.Credentials = token(server.Token()); c.QPS = -1 })
		tell, stop := recorders[recorder](client)
		for _, n := range notes {
			time.Sleep(n.after + time.Millisecond)
			tell(n)
			synctest.Wait()
		}
		list, err := restclient.Typed[*api.Event](client, api.EventsResource, "").List(context.Background(),
			api.ListOptions{})
		stop()
		require.NoError(t, server.Stop(context.Background()))
		require.NoError(t, err)
		for _, e := range list.Items {
			require.True(t, strings.HasPrefix(e.Name, e.InvolvedObject.Name+"."), e.Name)
			reporter := e.ReportingController + "/" + e.ReportingInstance
			found = append(found, fmt.Sprintf("%s/%+v %s %s %q %d %s %s %+v %s", e.Namespace, e.InvolvedObject, e.Type,
				e.Reason, e.Message, e.Count,
				e.FirstTimestamp.UTC().Format(time.TimeOnly), e.LastTimestamp.UTC().Format(time.TimeOnly), e.Source,
				reporter))
		}
	})
	slices.Sort(found)
	return found
}

type token string

func (b token) Apply(r *http.Request) error {
	r.Header.Set("Authorization", "Bearer "+string(b))
	return nil
}
func (token) Unauthorized(*http.Request)                   {}
func (token) ClientCertificate() (*tls.Certificate, error) { return nil, nil }

// The same notes lead to the same Events on the server, apart from names. Only the original combines
// ten Events that differ in their messages only: no sequence has as many.
func TestEventsAreThoseOfTheOriginal(t *testing.T) {
	repeat := func(n int, make func(i int) note) []note {
		var notes []note
		for i := range n {
			notes = append(notes, make(i))
		}
		return notes
	}
	sequences := map[string][]note{
		"one": {{"a", "Normal", "Deleted", "gone", 0}},
		"repeated": repeat(10,
			func(int) note { return note{"a", "Warning", "Blocked", "by a finalizer", time.Minute} }),
		"different": repeat(10, func(i int) note { return note{fmt.Sprint("n", i), "Normal", "Deleted", "gone", 0} }),
		"a flood": repeat(60, func(i int) note {
			return note{"a", "Normal", fmt.Sprint("Reason", i), "m", time.Second}
		}),
		"a flood, and later": append(repeat(40,
			func(i int) note { return note{"a", "Normal", fmt.Sprint("Reason", i), "m", time.Second} }),
			note{"a", "Normal", "Later", "m", 5 * time.Minute}, note{"a", "Normal", "TooMany", "m", 0}),
		"a flood of two types": repeat(80, func(i int) note {
			return note{"a", []string{"Normal", "Warning"}[i%2], fmt.Sprint("Reason", i), "m", 0}
		}),
		"a flood of the same": repeat(40, func(int) note { return note{"a", "Normal", "Same", "m", time.Second} }),
	}
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		sequences[fmt.Sprintf("random, seed %d", seed)] = repeat(100, func(int) note {
			return note{
				object: fmt.Sprint("n", random.IntN(5)), kind: []string{"Normal", "Warning"}[random.IntN(2)],
				reason: fmt.Sprint("Reason", random.IntN(3)), message: fmt.Sprint("message ", random.IntN(6)),
				after: time.Duration(random.IntN(120)) * time.Second,
			}
		})
	}
	for name, notes := range sequences {
		t.Run(name, func(t *testing.T) {
			want := stored(t, "client-go", notes)
			require.NotEmpty(t, want)
			assert.Equal(t, want, stored(t, "orrery", notes))
		})
	}
}
