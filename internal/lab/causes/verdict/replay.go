package verdict

import (
	"context"
	"fmt"
	"strings"

	"orrery/restclient"
	"orrery/restclient/api"
)

// Verdict is a diagnosis with its repair.
type Verdict struct {
	// Causes are ids of `orrery why --explain`, in the order in which they act.
	Causes []string
	// Proof are the paths of objects and lists that show the causes, as `kubectl get --raw` takes
	// them. What must be there and is not is a proof as well.
	Proof []string
	// Remedy are the requests that repair, in their order.
	Remedy []Request
}

// Request is a write.
type Request struct {
	// Method is DELETE, PATCH, PUT or POST, and Path that of the object.
	Method string
	Path   string
	// Body is JSON. That of a patch is a merge patch, or a JSON patch if it is a list.
	Body string
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
		request := restclient.Request{Verb: r.Method, Path: r.Path, ContentType: "application/json"}
		if r.Body != "" {
			request.Body = []byte(r.Body)
		}
		switch {
		case r.Method != "PATCH":
		case strings.HasPrefix(r.Body, "["):
			request.ContentType = string(api.JSONPatchType)
		default:
			request.ContentType = string(api.MergePatchType)
		}
		if err := client.Do(ctx, request, nil); err != nil {
			return fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
		}
	}
	return nil
}
