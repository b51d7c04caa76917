package apiserver_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// process is `lab serve` in a process of its own, so that its memory is not that of its clients.
type process struct {
	command *exec.Cmd
	url     string
	client  *http.Client // asks for gzip, the default
	plain   *http.Client // does not
}

// startProcess builds and starts the program, without TLS, so that the server itself is measured.
func startProcess(b *testing.B) *process {
	binary := filepath.Join(b.TempDir(), "lab")
	build := exec.Command("go", "build", "-o", binary, "orrery/cmd/lab")
	build.Stderr = os.Stderr
	require.NoError(b, build.Run())
	command := exec.Command(binary, "serve", "--insecure-http")
	stdout, err := command.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, command.Start())
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	plain := &http.Transport{DisableCompression: true}
	b.Cleanup(func() {
		transport.CloseIdleConnections()
		plain.CloseIdleConnections()
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(b, err)
	_, address, found := strings.Cut(strings.TrimSpace(line), " at ")
	require.True(b, found, line)
	go io.Copy(io.Discard, stdout) // ends with the process
	return &process{command: command, url: address, client: &http.Client{Transport: transport}, plain: &http.Client{Transport: plain}}
}

// memory returns a line of /proc/PID/status in MiB: VmRSS is the current resident memory, VmHWM its
// peak.
func (p *process) memory(b *testing.B, line string) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	require.NoError(b, err)
	_, rest, found := strings.Cut(string(status), line+":")
	require.True(b, found)
	kilobytes, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	require.NoError(b, err)
	return kilobytes / 1024
}

func (p *process) do(method, path, body string, want int, use func(io.Reader) error) error {
	return p.doBy(p.client, method, path, body, want, use)
}

func (p *process) doBy(client *http.Client, method, path, body string, want int, use func(io.Reader) error) error {
	request, err := http.NewRequest(method, p.url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != want {
		text, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, text)
	}
	if use != nil {
		return use(response.Body)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

const (
	benchPath    = "/api/v1/namespaces/default/configmaps"
	benchObjects = 100000
)

// noise is an incompressible value of 1 KiB, the worst case for a list.
func noise() string {
	var random [768]byte
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	return base64.StdEncoding.EncodeToString(random[:])
}

// fill creates the ConfigMaps over eight connections.
func (p *process) fill(b *testing.B, n int) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if err := p.do(http.MethodPost, benchPath, configMap(fmt.Sprintf("config-%06d", i), noise()), http.StatusCreated, nil); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

// list reads all ConfigMaps in pages and returns the number of pages. It decodes only the metadata
// of a page.
func (p *process) list(b *testing.B, client *http.Client, limit int) (pages int) {
	for token, last := "", false; !last; pages++ {
		var metadata api.ListMeta
		path := fmt.Sprintf("%s?limit=%d&continue=%s", benchPath, limit, token)
		require.NoError(b, p.doBy(client, http.MethodGet, path, "", http.StatusOK, func(body io.Reader) error {
			reader := bufio.NewReaderSize(body, 64<<10)
			head, err := reader.Peek(1024)
			if err != nil {
				return err
			}
			_, rest, _ := strings.Cut(string(head), `"metadata":`)
			if err := json.NewDecoder(strings.NewReader(rest)).Decode(&metadata); err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, reader)
			return err
		}))
		if token, last = metadata.Continue, metadata.Continue == ""; !last {
			require.Equal(b, int64(benchObjects-(pages+1)*limit), *metadata.RemainingItemCount)
		}
	}
	return pages
}

// BenchmarkServe measures `lab serve` with 100,000 ConfigMaps of 1 KiB: its memory, lists, and the
// time until 200 watchers have received a write. Run it with -benchtime 1x.
func BenchmarkServe(b *testing.B) {
	for range b.N {
		p := startProcess(b)
		b.ReportMetric(p.memory(b, "VmRSS"), "start-MiB")
		begun := time.Now()
		p.fill(b, benchObjects)
		b.ReportMetric(float64(time.Since(begun).Microseconds())/benchObjects, "µs/create")
		b.ReportMetric(p.memory(b, "VmRSS"), "filled-MiB")

		for name, client := range map[string]*http.Client{"gzip": p.client, "plain": p.plain} {
			begun = time.Now()
			require.Equal(b, benchObjects/500, p.list(b, client, 500))
			b.ReportMetric(time.Since(begun).Seconds(), "s/pages-"+name)
			begun = time.Now()
			require.Equal(b, 1, p.list(b, client, 0))
			b.ReportMetric(time.Since(begun).Seconds(), "s/whole-"+name)
		}
		b.ReportMetric(p.memory(b, "VmRSS"), "listed-MiB")

		b.ReportMetric(float64(p.fanOut(b, 200, 2000).Microseconds())/2000, "µs/write-to-200")
		b.ReportMetric(p.memory(b, "VmHWM"), "peak-MiB")
	}
}

// fanOut writes to one object until all watchers have received all writes.
func (p *process) fanOut(b *testing.B, watchers, writes int) time.Duration {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	var version uint64
	require.NoError(b, p.do(http.MethodGet, benchPath+"?limit=1", "", http.StatusOK, func(body io.Reader) error {
		text, err := io.ReadAll(body)
		if err == nil {
			version, err = versionIn(text)
		}
		return err
	}))
	var open, watching sync.WaitGroup
	open.Add(watchers)
	for range watchers {
		watching.Go(func() {
			path := fmt.Sprintf("%s%s?watch=true&resourceVersion=%d", p.url, benchPath, version)
			request, _ := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
			response, err := p.client.Do(request)
			open.Done()
			if err != nil {
				b.Error(err)
				return
			}
			defer response.Body.Close()
			lines := bufio.NewReaderSize(response.Body, 64<<10)
			for range writes {
				if _, err := lines.ReadSlice('\n'); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	open.Wait()
	begun := time.Now()
	for i := range writes {
		require.NoError(b, p.do(http.MethodPut, benchPath+"/config-000001", configMap("config-000001", strconv.Itoa(i)), http.StatusOK, nil))
	}
	watching.Wait()
	return time.Since(begun)
}
