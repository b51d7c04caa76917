//go:build unix

package restclient_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
)

// Running out of file descriptors is an error of its own kind, with a message that says what to
// do. It ends when descriptors are free again. The test lowers the limit of a process, so it runs
// in one of its own.
func TestNoFileDescriptorsLeft(t *testing.T) {
	const here = "ORRERY_TEST_DESCRIPTORS"
	if server := os.Getenv(here); server != "" {
		fmt.Println(withoutDescriptors(server))
		os.Exit(0)
	}
	server := httptest.NewServer(http.HandlerFunc(ok))
	defer server.Close()
	child := exec.Command(os.Args[0], "-test.run=^TestNoFileDescriptorsLeft$")
	child.Env = append(os.Environ(), here+"="+server.URL)
	out, err := child.CombinedOutput()
	require.NoError(t, err, "%s", out)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, lines, 3, "%s", out)
	assert.Equal(t, "first: ok", lines[0])
	assert.Contains(t, lines[1], "kind 15, unreachable true: no connection to "+server.URL+" can be opened because this process has no file descriptor left (see ulimit -n): ")
	assert.Contains(t, lines[1], "too many open files")
	assert.Equal(t, "afterwards: ok", lines[2])
}

// withoutDescriptors asks a server before, while and after there is no descriptor left.
func withoutDescriptors(server string) string {
	var out []string
	ask := func() error {
		client, err := restclient.New(restclient.Config{Host: server, Proxy: noProxy})
		if err != nil {
			return err
		}
		defer client.Close()
		return client.Do(context.Background(), get("/"), nil)
	}
	if err := ask(); err == nil {
		out = append(out, "first: ok")
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 64, Max: 64}); err != nil {
		return err.Error()
	}
	var hoard []*os.File
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		hoard = append(hoard, f)
	}
	err := ask()
	for _, f := range hoard {
		f.Close()
	}
	if broken, ok := err.(*restclient.TransportError); ok {
		out = append(out, fmt.Sprintf("kind %d, unreachable %t: %s", broken.Kind, broken.Unreachable(), broken.Sentence()))
	} else {
		out = append(out, fmt.Sprint(err))
	}
	if err := ask(); err == nil {
		out = append(out, "afterwards: ok")
	}
	return strings.Join(out, "\n")
}
