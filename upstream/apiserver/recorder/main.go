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
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"

	"orrery/upstream/controlplane"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
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
	client *rest.RESTClient
}

// start starts a control plane with its default controllers. The caller must stop it.
func start(ctx context.Context) (server, error) {
	cp, err := controlplane.Start(ctx, controlplane.Config{})
	if err != nil {
		return server{}, err
	}
	client, err := connect(cp.Kubeconfig())
	if err != nil {
		return server{}, errors.Join(err, cp.Stop())
	}
	return server{cp, client}, nil
}

func connect(kubeconfig string) (*rest.RESTClient, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	config.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme())
	config.WarningHandler = rest.NoWarnings{}
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return rest.UnversionedRESTClientForConfigAndClient(config, transport)
}

const acceptJSON = "application/json"

// call sends a request and decodes the answer, whatever its code.
func (s server) call(
	ctx context.Context, method, path, accept, contentType, body string,
) (answer map[string]any, err error) {
	request := s.client.Verb(method).RequestURI(path).SetHeader("Accept", accept).SetHeader("Content-Type", contentType)
	data, err := request.Body([]byte(body)).DoRaw(ctx)
	if decoding := json.Unmarshal(data, &answer); decoding != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, cmp.Or(err, decoding))
	}
	return answer, nil
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
