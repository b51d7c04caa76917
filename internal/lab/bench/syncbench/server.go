package syncbench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
)

// serverCommand is the first argument that turns a program with this benchmark into its server; the
// second is the Config in JSON.
const serverCommand = "serve-pods"

// hello is printed by a server on standard output when it is ready.
type hello struct {
	URL    string `json:"url"`
	Bytes  int    `json:"bytes"` // size of the list
	Digest Digest `json:"digest"`
}

// ServeIfAsked must be called first in main by every program that runs this benchmark: the program
// starts itself again as the server. In that process ServeIfAsked serves until standard input ends,
// as it does when the parent ends, and exits. Otherwise it returns.
func ServeIfAsked() {
	if len(os.Args) != 3 || os.Args[1] != serverCommand {
		return
	}
	var cfg Config
	err := json.Unmarshal([]byte(os.Args[2]), &cfg)
	if err == nil {
		err = Serve(cfg, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sync benchmark's server:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Serve serves the pods of the configuration on a local address, which it prints to out, until in
// ends.
func Serve(cfg Config, in io.Reader, out io.Writer) error {
	served := newPods(cfg)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	greeting, err := json.Marshal(hello{
		URL: "http://" + listener.Addr().String(), Bytes: len(served.list), Digest: served.digest,
	})
	if err == nil {
		_, err = out.Write(append(greeting, '\n'))
	}
	if err != nil {
		listener.Close()
		return err
	}
	server := &http.Server{Handler: served}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		server.Close()
	}()
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// serverProcess is a server in a process of its own.
type serverProcess struct {
	command *exec.Cmd
	input   io.Closer
	errors  bytes.Buffer
	hello   hello
}

// startServer starts a server and waits until it is ready.
func startServer(ctx context.Context, cfg Config) (*serverProcess, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	s := &serverProcess{command: exec.CommandContext(ctx, program, serverCommand, string(text))}
	s.command.Stderr = &s.errors
	if s.input, err = s.command.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &s.hello)
	}
	if err != nil {
		s.stop()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("the server did not start: %w: %s", err, bytes.TrimSpace(s.errors.Bytes()))
	}
	return s, nil
}

// stop ends the server and waits for it.
func (s *serverProcess) stop() {
	s.input.Close()
	_ = s.command.Wait() // the context may have killed it: no error
}

// pods is the server: it holds the encoded list.
type pods struct {
	digest Digest
	list   []byte
}

func newPods(cfg Config) *pods {
	s := &pods{list: []byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",` +
		`"metadata":{"resourceVersion":"900000000"},"items":[`)}
	generate(cfg, func(pod *pod) {
		if s.digest.Pods > 0 {
			s.list = append(s.list, ',')
		}
		s.digest.Add(pod.ObjectMeta)
		s.list = append(s.list, mustMarshal(pod)...)
	})
	s.list = append(s.list, "]}\n"...)
	return s
}

// ServeHTTP answers an informer's requests for pods: the whole list, as from a watch cache. It
// refuses streaming lists. Other watches stay open without events: a benchmark ends before a
// bookmark is due.
func (s *pods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	query := r.URL.Query()
	watch, _ := strconv.ParseBool(query.Get("watch"))
	switch {
	case r.URL.Path != "/api/v1/pods":
		refuse(w, http.StatusNotFound, "NotFound", "the server has pods only")
	case query.Get("sendInitialEvents") == "true":
		refuse(w, http.StatusUnprocessableEntity, "Invalid",
			`ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: `+
				"sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")
	case watch:
		if http.NewResponseController(w).Flush() == nil {
			<-r.Context().Done()
		}
	default:
		for piece := range slices.Chunk(s.list, 1<<20) { // in pieces, to notice a closed connection
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}
}

// refuse answers with a Status.
func refuse(w http.ResponseWriter, code int, reason, message string) {
	w.WriteHeader(code)
	_, _ = w.Write(mustMarshal(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure",
		"message": message, "reason": reason, "code": code,
	}))
}
