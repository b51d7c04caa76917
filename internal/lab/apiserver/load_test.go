package apiserver_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
)

// loaded is a server on a socket and a client with unlimited connections.
type loaded struct {
	server *apiserver.Server
	client *http.Client
}

func startLoaded(t testing.TB) *loaded {
	server, err := apiserver.New(apiserver.Config{NoKubelet: true, NoCollector: true})
	require.NoError(t, err)
	require.NoError(t, server.Start(t.Context()))
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		assert.NoError(t, server.Stop(context.Background()))
	})
	return &loaded{server: server, client: &http.Client{Transport: transport}}
}

// send sends a request. The caller closes the body of the answer. Another code than want is an
// error.
func (l *loaded) send(ctx context.Context, method, path, body string, want int) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, method, l.server.URL()+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+l.server.Token())
	request.Header.Set("Content-Type", "application/json")
	response, err := l.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != want {
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		return nil, fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, text)
	}
	return response.Body, nil
}

// write sends a request and returns the version of the object in the answer.
func (l *loaded) write(method, path, body string, want int) (uint64, error) {
	answer, err := l.send(context.Background(), method, path, body, want)
	if err != nil {
		return 0, err
	}
	defer answer.Close()
	text, err := io.ReadAll(answer)
	if err != nil {
		return 0, err
	}
	return versionIn(text)
}

// versionIn extracts the first resourceVersion without decoding the document.
func versionIn(document []byte) (uint64, error) {
	_, rest, found := bytes.Cut(document, []byte(`"resourceVersion":"`))
	digits, _, ended := bytes.Cut(rest, []byte(`"`))
	if !found || !ended {
		return 0, fmt.Errorf("no version in %s", document)
	}
	return strconv.ParseUint(string(digits), 10, 64)
}

// watch watches all ConfigMaps after a version and calls yield for each line until it returns
// false.
func (l *loaded) watch(ctx context.Context, after uint64, ready func(), yield func(line []byte) bool) error {
	stream, err := l.send(ctx, http.MethodGet, "/api/v1/configmaps?watch=true&resourceVersion="+strconv.FormatUint(after, 10), "", http.StatusOK)
	ready()
	if err != nil {
		return err
	}
	defer stream.Close()
	lines := bufio.NewScanner(stream)
	lines.Buffer(make([]byte, 0, 64<<10), 4<<20)
	for lines.Scan() {
		if !yield(lines.Bytes()) {
			return nil
		}
	}
	return fmt.Errorf("watch ended: %w", lines.Err())
}

func configMap(name, value string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"data":{"value":%q}}`, name, value)
}

// Under load and over sockets, each of 200 watchers receives all of 10,000 writes once and in
// order.
func TestManyWatchersSeeEveryWriteInOrder(t *testing.T) {
	writes := 10000
	if testing.Short() {
		writes = 1000
	}
	const watchers, writers = 200, 4
	l := startLoaded(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	start := l.server.Store().Version()

	reported := make([][]uint64, watchers)
	errs := make([]error, watchers)
	var open, watching sync.WaitGroup
	open.Add(watchers)
	for i := range watchers {
		watching.Go(func() {
			reported[i] = make([]uint64, 0, writes)
			errs[i] = l.watch(ctx, start, open.Done, func(line []byte) bool {
				version, _ := versionIn(line) // 0 for an ERROR event, which is the version of no write
				reported[i] = append(reported[i], version)
				return len(reported[i]) < writes
			})
		})
	}
	open.Wait()

	written := make([][]uint64, writers)
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			name := fmt.Sprint("writer-", w)
			path := "/api/v1/namespaces/default/configmaps"
			version, err := l.write(http.MethodPost, path, configMap(name, "0"), http.StatusCreated)
			for i := 1; assert.NoError(t, err); i++ {
				written[w] = append(written[w], version)
				if i == writes/writers {
					return
				}
				version, err = l.write(http.MethodPut, path+"/"+name, configMap(name, strconv.Itoa(i)), http.StatusOK)
			}
			cancel() // otherwise the watchers would wait forever
		})
	}
	writing.Wait()
	watching.Wait()

	all := map[uint64]bool{}
	for _, versions := range written {
		for _, version := range versions {
			all[version] = true
		}
	}
	require.Len(t, all, writes)
	for i := range watchers {
		require.NoError(t, errs[i], "watcher %d", i)
		require.Len(t, reported[i], writes)
		last := start
		for _, version := range reported[i] {
			if version <= last || !all[version] {
				require.Fail(t, "unexpected version", "watcher %d received %d after %d", i, version, last)
			}
			last = version
		}
	}
}
