package causes

import (
	"bytes"
	"context"
	_ "embed" // verdict.yaml
	"encoding/json"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"

	"orrery/restclient"
	"orrery/restclient/api"
)

// Verdicts are the content of verdict.yaml, which the learner of lab 13 writes: a verdict on each
// of the namespaces that `lab break first` and `lab break second` set up for a seed. The tests set
// the same namespaces up again and replay the verdicts on them.
type Verdicts struct {
	// Seed chooses the causes of the two namespaces, see [OfCourse].
	Seed   uint64    `yaml:"seed"`
	First  yaml.Node `yaml:"first"`
	Second yaml.Node `yaml:"second"`
}

// Verdict is a diagnosis with its repair. A repair passes if the namespace is gone and nothing is
// stranded, left behind outside, or damaged elsewhere, see [Fixture.Intact].
type Verdict struct {
	// Causes lists ids of `orrery why --explain`, in the order in which the causes act.
	Causes []string `yaml:"causes"`
	// Proof lists the paths of objects and lists that show the causes.
	Proof []string `yaml:"proof"`
	// Remedy lists the requests that repair the namespace, in order.
	Remedy []Request `yaml:"remedy"`
}

// Request is a write.
type Request struct {
	// Method is DELETE, PATCH, PUT or POST, and Path that of the object.
	Method string `yaml:"method"`
	Path   string `yaml:"path"`
	// Body is an object, or a list for a JSON patch.
	Body any `yaml:"body"`
}

// VerdictFile is verdict.yaml, relative to the repository.
const VerdictFile = "internal/lab/causes/verdict.yaml"

//go:embed verdict.yaml
var verdictPage []byte

// LoadVerdicts returns the verdicts that are built in. A field that is misspelt is an error.
func LoadVerdicts() (all Verdicts, err error) {
	err = decode(verdictPage, &all)
	return all, err
}

// ReadVerdicts is LoadVerdicts for a file.
func ReadVerdicts(file string) (all Verdicts, err error) {
	text, err := os.ReadFile(file)
	if err == nil {
		err = decode(text, &all)
	}
	return all, err
}

// DecodeVerdict decodes the verdict on one of the namespaces.
func DecodeVerdict(node yaml.Node) (Verdict, error) {
	var v Verdict
	if node.Kind == 0 {
		return v, fmt.Errorf("verdict.yaml: a verdict is missing")
	}
	if node.Kind == yaml.ScalarNode {
		return v, fmt.Errorf("verdict.yaml:%d: %s", node.Line, node.Value) // the stub's text
	}
	text, err := yaml.Marshal(&node)
	if err == nil {
		err = decode(text, &v)
	}
	return v, err
}

func decode(text []byte, into any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("verdict.yaml: %w", err)
	}
	return nil
}

// Look sends the requests of the proof. It fails if the server refuses one of them.
func (v Verdict) Look(ctx context.Context, client *restclient.Client) error {
	for _, path := range v.Proof {
		err := client.Do(ctx, restclient.Request{Path: path}, nil)
		if err != nil && !api.IsNotFound(err) {
			return fmt.Errorf("GET %s: %w", path, err)
		}
	}
	return nil
}

// Replay sends the requests of the remedy. It ends with the first that fails.
func (v Verdict) Replay(ctx context.Context, client *restclient.Client) error {
	for _, r := range v.Remedy {
		request, err := r.request()
		if err == nil {
			err = client.Do(ctx, request, nil)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
		}
	}
	return nil
}

// request returns the request for the client.
func (r Request) request() (restclient.Request, error) {
	request := restclient.Request{Verb: r.Method, Path: r.Path, ContentType: "application/json"}
	if r.Body == nil {
		return request, nil
	}
	body, err := json.Marshal(r.Body)
	request.Body = body
	if r.Method == "PATCH" {
		request.ContentType = string(api.MergePatchType)
		if _, is := r.Body.([]any); is {
			request.ContentType = string(api.JSONPatchType)
		}
	}
	return request, err
}
