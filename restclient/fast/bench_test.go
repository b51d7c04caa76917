package fast

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"orrery/restclient"
)

// podJSON is a pod of about 4 kB, a usual size in real clusters.
func podJSON(n int) string {
	var containers []string
	for i := range 4 {
		containers = append(containers, fmt.Sprintf(`{"name":"c%d","image":"registry.example/team/app:v1.2.%d","env":[{"name":"A","value":"%s"}],"resources":{"limits":{"cpu":"1"}}}`, i, i, strings.Repeat("x", 400)))
	}
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod-%d","namespace":"default","uid":"0a1b2c3d-%d","resourceVersion":"%d",`+
		`"creationTimestamp":"2026-01-02T03:04:05Z","labels":{"app":"web","tier":"front"},"annotations":{"note":"%s"},`+
		`"managedFields":[{"manager":"kubelet","operation":"Update","fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{}}}}}]},`+
		`"spec":{"terminationGracePeriodSeconds":30,"nodeName":"n1","containers":[%s]},"status":{"phase":"Running","podIP":"10.0.0.1"}}`,
		n, n, n+1, strings.Repeat("y\\n", 200), strings.Join(containers, ","))
}

// loop is an endless body that repeats itself.
type loop struct {
	data []byte
	at   int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.data[l.at:])
	if l.at += n; l.at == len(l.data) {
		l.at = 0
	}
	return n, nil
}

// BenchmarkWatch measures an event in each form.
func BenchmarkWatch(b *testing.B) {
	frame := `{"type":"MODIFIED","object":` + podJSON(7) + "}\n"
	for name, codec := range forms {
		b.Run(name, func(b *testing.B) {
			d, err := codec.Events(jsonType, &loop{data: []byte(frame)}, restclient.DefaultMaxFrameBytes)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := d.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWatchFraming measures finding the events without decoding them.
func BenchmarkWatchFraming(b *testing.B) {
	frame := `{"type":"MODIFIED","object":` + podJSON(7) + "}\n"
	s := newStream(&loop{data: []byte(frame)}, restclient.DefaultMaxFrameBytes, "an event")
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.value(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList measures a list of 1000 pods in each form.
func BenchmarkList(b *testing.B) {
	var items []string
	for n := range 1000 {
		items = append(items, podJSON(n))
	}
	list := []byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[` + strings.Join(items, ",") + `]}`)
	for name, codec := range forms {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(list)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := codec.List(jsonType, bytes.NewReader(list), restclient.DefaultMaxFrameBytes); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
