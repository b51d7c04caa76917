// Command recorder records what a genuine kube-apiserver answers, in the directories of the server
// in memory, and for its tests:
//
//	conversations [theme ...]   apiservertest/testdata: its answers to scripts
//	types [name ...]            resources/testdata: what it stores, refuses and shows in a table
//	schema                      resources/schemas.jsonl, resources/builtin.jsonl: its types
//	patches                     resources/testdata: how it applies patches, and errors about documents
//	protobuf                    resources/messages.txt: how types travel; this needs no server
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// order is what to record, and where.
type order struct {
	kubeconfig string // "": see the flag
	root       string // the directory of the server's packages
	names      []string
}

var recordings = map[string]func(ctx context.Context, o order) error{
	"conversations": recordConversations,
	"types":         recordTypes,
	"schema":        recordSchema,
	"patches":       recordPatches,
	"protobuf":      recordProtobuf,
}

func main() {
	var o order
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "the server to ask; default: a control plane that is "+
		"started for the conversations, and $KUBECONFIG for the others")
	flag.StringVar(&o.root, "root", "../internal/lab/apiserver", "the directory of the server's packages")
	flag.Usage = func() {
		const usage = "usage: recorder [flags] conversations|types|schema|patches|protobuf [name ...]"
		fmt.Fprintln(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	record := recordings[flag.Arg(0)]
	if record == nil {
		flag.Usage()
		os.Exit(2)
	}
	o.names = flag.Args()[1:]
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := record(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "recorder:", err)
		stop()
		os.Exit(1)
	}
}

// wants reports whether a recording is among those that were asked for.
func (o order) wants(name string) bool { return len(o.names) == 0 || slices.Contains(o.names, name) }

// server is the server to ask.
type server struct{ client *rest.RESTClient }

func (o order) connect() (server, error) {
	if o.kubeconfig == "" {
		o.kubeconfig = os.Getenv("KUBECONFIG")
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return server{}, err
	}
	config.QPS = -1
	config.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme())
	config.WarningHandler = rest.NoWarnings{}
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return server{}, err
	}
	client, err := rest.UnversionedRESTClientForConfigAndClient(config, transport)
	return server{client}, err
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
