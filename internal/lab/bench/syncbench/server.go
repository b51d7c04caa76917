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
	"strconv"
)

// ServerCommand is the first argument that turns a program with this benchmark into its server; the
// second is the Config in JSON. See [ServeIfAsked].
const ServerCommand = "serve-pods"

// hello is printed by a server on standard output when it is ready.
type hello struct {
	URL    string `json:"url"`
	Bytes  int64  `json:"bytes"` // size of the list in one page
	Digest Digest `json:"digest"`
}

// ServeIfAsked must be called first in main by every program that runs this benchmark and has no
// command for [ServerCommand]: the program starts itself again as the server. In that process
// ServeIfAsked serves until standard input ends, as it does when the parent ends, and exits.
// Otherwise it returns.
func ServeIfAsked() {
	if len(os.Args) != 3 || os.Args[1] != ServerCommand {
		return
	}
	if err := ServeText(os.Args[2], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sync benchmark's server:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// ServeText is Serve with a Config in JSON.
func ServeText(config string, in io.Reader, out io.Writer) error {
	var cfg Config
	if err := json.Unmarshal([]byte(config), &cfg); err != nil {
		return err
	}
	return Serve(cfg, in, out)
}

// Serve serves the pods of the configuration on a local address, which it prints to out, until in
// ends.
func Serve(cfg Config, in io.Reader, out io.Writer) error {
	pods := newStore(cfg)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	greeting, err := json.Marshal(hello{
		URL: "http://" + listener.Addr().String(), Bytes: pods.page(0, 0).size(), Digest: pods.digest,
	})
	if err == nil {
		_, err = out.Write(append(greeting, '\n'))
	}
	if err != nil {
		listener.Close()
		return err
	}
	server := &http.Server{Handler: pods}
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
	s := &serverProcess{command: exec.CommandContext(ctx, program, ServerCommand, string(text))}
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

// listVersion is the resource version of the list; all pods have older ones.
const listVersion = "900000000"

// store holds the encoded pods of a server.
type store struct {
	cfg    Config
	digest Digest

	items []byte // items of a JSON list with the commas after them
	ends  []int  // the end of each item, before its comma
}

func newStore(cfg Config) *store {
	s := &store{cfg: cfg}
	generator := NewGenerator(cfg)
	for pod, more := generator.Next(); more; pod, more = generator.Next() {
		s.digest.Add(&pod)
		s.items = append(s.items, headJSON(&pod)...)
		s.ends = append(s.ends, len(s.items))
		s.items = append(s.items, ',')
	}
	return s
}

// page is part of the list: three slices to be written in order.
type page [3][]byte

func (p page) size() int64 { return int64(len(p[0]) + len(p[1]) + len(p[2])) }

// page returns at most limit items starting at from; a limit of 0 is none.
func (s *store) page(from, limit int) page {
	to := s.cfg.Objects
	if limit > 0 && from+limit < to {
		to = from + limit
	}
	head := `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"` + listVersion + `"`
	if remaining := s.cfg.Objects - to; remaining > 0 {
		head += `,"continue":"` + strconv.Itoa(to) + `","remainingItemCount":` + strconv.Itoa(remaining)
	}
	head += `},"items":[`
	start := 0
	if from > 0 {
		start = s.ends[from-1] + 1
	}
	end := start
	if to > from {
		end = s.ends[to-1]
	}
	return page{[]byte(head), s.items[start:end], []byte("]}\n")}
}
