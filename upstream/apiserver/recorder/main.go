// Command recorder records what a genuine kube-apiserver answers, in the directories of the server
// in memory, and for its tests:
//
//	conversations [theme ...]   apiservertest/testdata: its answers to scripts
//	types [name ...]            resources/testdata: what it stores, refuses and shows in a table
//	schema                      resources/schemas.jsonl, resources/builtin.jsonl: its types
//	patches                     resources/testdata: how it applies patches, and errors about documents
//	protobuf                    resources/messages.txt: how types travel; this needs no server
//
// It starts a control plane for each recording.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"orrery/internal/lab/apiserver/apiservertest"
	"orrery/upstream/controlplane"
)

// root is the directory of the server's packages, from upstream/.
const root = "../internal/lab/apiserver"

// order is what to record: all, or the recordings with these names.
type order []string

var recordings = map[string]func(ctx context.Context, o order) error{
	"conversations": recordConversations,
	"types":         recordTypes,
	"schema":        recordSchema,
	"patches":       recordPatches,
	"protobuf":      recordProtobuf,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	record := func(context.Context, order) error {
		return errors.New("usage: recorder conversations|types|schema|patches|protobuf [name ...]")
	}
	var names order
	if len(os.Args) > 1 && recordings[os.Args[1]] != nil {
		record, names = recordings[os.Args[1]], os.Args[2:]
	}
	if err := record(ctx, names); err != nil {
		fmt.Fprintln(os.Stderr, "recorder:", err)
		stop()
		os.Exit(1)
	}
}

// wants reports whether a recording is among those that were asked for.
func (o order) wants(name string) bool { return len(o) == 0 || slices.Contains(o, name) }

// server is the server to ask.
type server struct {
	*controlplane.ControlPlane
	target apiservertest.Target
}

// start starts a control plane. The caller must stop it.
func start(ctx context.Context, config controlplane.Config) (server, error) {
	cp, err := controlplane.Start(ctx, config)
	if err != nil {
		return server{}, err
	}
	target, err := targetFor(cp.Kubeconfig())
	if err != nil {
		return server{}, errors.Join(err, cp.Stop())
	}
	return server{cp, target}, nil
}

// targetFor returns the server of a kubeconfig file, whose user must be an administrator. The
// client speaks HTTP/1.1 and adds only credentials.
func targetFor(kubeconfig string) (apiservertest.Target, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return apiservertest.Target{}, err
	}
	user, err := rest.TransportFor(config)
	if err != nil {
		return apiservertest.Target{}, err
	}
	anonymous, err := rest.TransportFor(rest.AnonymousClientConfig(config))
	if err != nil {
		return apiservertest.Target{}, err
	}
	return apiservertest.Target{URL: config.Host, Transport: user, Anonymous: anonymous}, nil
}

const acceptJSON = "application/json"

// send sends a request and decodes the answer, whatever its code.
func (s server) send(
	ctx context.Context, method, path, accept, contentType, body string, answer any,
) (code int, err error) {
	request, err := http.NewRequestWithContext(ctx, method, s.target.URL+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Accept", accept)
	request.Header.Set("Content-Type", contentType)
	response, err := s.target.Transport.RoundTrip(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return 0, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return response.StatusCode, nil
}

// get reads a document.
func (s server) get(ctx context.Context, path, accept string, into any) error {
	code, err := s.send(ctx, http.MethodGet, path, accept, acceptJSON, "", into)
	if err == nil && code != http.StatusOK {
		return fmt.Errorf("%s: HTTP %d", path, code)
	}
	return err
}

// writeLines writes a file of JSON values, one a line.
func writeLines[T any](name string, values []T) error {
	var file bytes.Buffer
	encoder := json.NewEncoder(&file)
	encoder.SetEscapeHTML(false)
	for _, value := range values {
		if err := encoder.Encode(value); err != nil {
			return err
		}
	}
	return os.WriteFile(name, file.Bytes(), 0o644)
}

// recordConversations plays the scripts of package apiservertest on a genuine kube-apiserver and
// records its answers, masked, for comparison with the server in memory. The only controller is the
// garbage collector, since deletion is compared, and the admission plugin ServiceAccount is off,
// since it refuses pods without service accounts. A recording is written only when every case has an
// answer, and recording twice changes no file, which the test checks.
func recordConversations(ctx context.Context, o order) error {
	scripts, err := apiservertest.Scripts()
	if err != nil {
		return err
	}
	s, err := start(ctx, forConversations())
	if err != nil {
		return err
	}
	defer s.Stop()
	for _, script := range scripts {
		if !o.wants(script.Theme) {
			continue
		}
		if err := recordScript(ctx, s.target, script, filepath.Join(root, "apiservertest", "testdata")); err != nil {
			return err
		}
		fmt.Printf("%-16s %d answers\n", script.Theme, len(script.Cases))
	}
	return nil
}

// forConversations returns the control plane of the recordings.
func forConversations() controlplane.Config {
	return controlplane.Config{
		Controllers:   []string{"garbage-collector-controller"},
		APIServerArgs: []string{"--disable-admission-plugins=ServiceAccount"},
	}
}

// recordScript plays a script on a server and writes the recording to a directory.
func recordScript(ctx context.Context, target apiservertest.Target, script *apiservertest.Script, dir string) error {
	player := apiservertest.NewPlayer(target)
	var answers []*apiservertest.Answer
	for _, c := range script.Cases {
		answer, err := player.Play(ctx, c)
		if err != nil {
			return fmt.Errorf("record %s: %q: %w", script.Theme, c.Title, err)
		}
		answers = append(answers, answer)
	}
	text := apiservertest.FormatRecording(script, answers)
	if _, err := apiservertest.ParseRecording(script, text); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, apiservertest.RecordingFile(script)), []byte(text), 0o644)
}
