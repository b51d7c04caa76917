package workloads

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"orrery/restclient/api"
)

// serverCommand is the first argument that turns a program with this benchmark into its server; the
// second is the number of pods.
const serverCommand = "serve-pods"

// ServeIfAsked must be called first in main by every program that runs this benchmark: the program
// starts itself again as the server. In that process ServeIfAsked serves until standard input ends,
// as it does when the parent ends, and exits. Otherwise it returns.
func ServeIfAsked() {
	if len(os.Args) != 3 || os.Args[1] != serverCommand {
		return
	}
	n, err := strconv.Atoi(os.Args[2])
	if err == nil {
		err = ServePods(n, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sync benchmark's server:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// ServePods serves n pods on a local address, until in ends. It prints its URL to out when it is
// ready.
func ServePods(n int, in io.Reader, out io.Writer) error {
	served := newPodServer(n)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: served}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		server.Close()
	}()
	fmt.Fprintf(out, "http://%v\n", listener.Addr()) // a parent that has gone ends in
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// startServer starts a server in a process of its own and returns its URL. stop ends it.
func startServer(ctx context.Context, n int) (url string, stop func(), err error) {
	program, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	command := exec.CommandContext(ctx, program, serverCommand, strconv.Itoa(n))
	var printed bytes.Buffer
	command.Stderr = &printed
	input, err := command.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return "", nil, err
	}
	stop = func() {
		input.Close()
		_ = command.Wait() // the context may have killed it: no error
	}
	if url, err = bufio.NewReader(output).ReadString('\n'); err != nil {
		stop()
		return "", nil, cmp.Or(ctx.Err(), fmt.Errorf("the server did not start: %w: %s", err, printed.Bytes()))
	}
	return strings.TrimSpace(url), stop, nil
}

// podServer is the server: the encoded list.
type podServer []byte

func newPodServer(n int) podServer {
	list := []byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",` +
		`"metadata":{"resourceVersion":"900000000"},"items":[`)
	generate(n, func(pod []byte, _ *api.ObjectMeta) { list = append(append(list, pod...), ',') })
	return append(bytes.TrimSuffix(list, []byte(",")), "]}\n"...)
}

// streamingRefused is the answer to a request for a streaming list.
const streamingRefused = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":` +
	`"ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: ` +
	`sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",` +
	`"reason":"Invalid","code":422}`

// ServeHTTP answers an informer's requests for pods: the whole list, as from a watch cache. It
// refuses streaming lists. Other watches stay open without events: a benchmark ends before a
// bookmark is due.
func (s podServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	query := r.URL.Query()
	watch, _ := strconv.ParseBool(query.Get("watch"))
	switch {
	case query.Get("sendInitialEvents") == "true":
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, streamingRefused)
	case watch:
		if http.NewResponseController(w).Flush() == nil {
			<-r.Context().Done()
		}
	default:
		for piece := range slices.Chunk(s, 1<<20) { // in pieces, to notice a closed connection
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}
}

// The generated cluster: its pods are spread over these deployments and namespaces.
const (
	podDeployments = 200
	podNamespaces  = 50
)

// firstCreated is when the first pod was created: 2026-01-05 08:00:00 UTC.
const firstCreated = 1_767_600_000

// generate calls visit with the heads of the running pods of a cluster with a network plugin, in
// list order: as kube-apiserver shows them, and without managed fields. Labels and two annotations
// are the same for all pods of a deployment.
func generate(n int, visit func(pod []byte, head *api.ObjectMeta)) {
	for i := range n {
		number := i * podDeployments / n
		deployment := rand.New(rand.NewPCG(1, uint64(number)))
		own := rand.New(rand.NewPCG(2, uint64(i)))
		created := time.Unix(firstCreated+int64(number)*3600+int64(own.IntN(120)), 0).UTC()
		pod := fmt.Appendf(nil, podHead(),
			[...]string{"api", "billing", "checkout", "web"}[number%4], deployment.Uint64()>>24, i,
			number*podNamespaces/podDeployments, uuid(own), 1_000_000+7*i, created.Format(time.RFC3339),
			number%10, own.Uint64(), own.Uint64(), fmt.Sprintf("10.%d.%d.%d", 128+i>>16, i>>8&255, i&255),
			uuid(deployment))
		read := struct{ Metadata api.ObjectMeta }{}
		head, _, _ := bytes.Cut(pod, []byte(`,"managedFields"`))
		if err := json.Unmarshal(append(slices.Clip(head), "}}"...), &read); err != nil {
			panic(err) // cannot fail for generated pods
		}
		visit(pod, &read.Metadata)
	}
}

func uuid(random *rand.Rand) string {
	high, low := random.Uint64(), random.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", high>>32, high>>16&0xffff, high&0xfff, low>>52, low&(1<<48-1))
}

//go:embed pod.json
var podFile []byte

// podHead is the head of a pod: its app, the deployment's hash, the pod's number, namespace, UID
// and version, when it was created, its team, two parts of the container's id, the pod's address,
// and the UID of the replica set.
var podHead = sync.OnceValue(func() string {
	var compact bytes.Buffer
	if err := json.Compact(&compact, podFile); err != nil {
		panic(err) // the file is part of the program
	}
	return compact.String()
})
