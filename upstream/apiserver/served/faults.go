package served

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// faultsPath is the server's API of faults.
const faultsPath = "/debug/orrery/faults"

// Add injects a fault, described as in "lab serve --fault", and returns its id.
func (s *Server) Add(ctx context.Context, text string) (id string, err error) {
	var added struct{ ID string }
	err = s.do(ctx, http.MethodPost, faultsPath, text, &added)
	return added.ID, err
}

// Remove removes a fault. Requests that it holds up go on.
func (s *Server) Remove(ctx context.Context, id string) error {
	return s.do(ctx, http.MethodDelete, faultsPath+"/"+id, "", nil)
}

// get requests a path as the administrator and discards the answer unless it is an error.
func (s *Server) get(ctx context.Context, path string) error {
	return s.do(ctx, http.MethodGet, path, "", nil)
}

// do sends a request as the administrator and decodes the answer into out unless that is nil.
func (s *Server) do(ctx context.Context, method, path, body string, out any) error {
	request, err := http.NewRequestWithContext(ctx, method, s.address+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	if body != "" {
		request.Header.Set("Content-Type", "text/plain")
	}
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}
