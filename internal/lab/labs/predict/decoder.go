package predict

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"orrery/restclient"
	"orrery/restclient/api"
)

// newDecoder is the interpreter for restclient/watch_decoder.go: a body with code 200, and events
// that are read from it. The body ends behind what was sent.
func newDecoder(context.Context) commands {
	var body bytes.Buffer
	var position string
	decoder, failed := restclient.PlainCodec().Events("application/json", &body, 1<<20)
	return commands{
		"send JSON...": func(args ...string) (string, error) {
			_, err := body.WriteString(strings.Join(args, " ") + "\n")
			return "", errors.Join(err, failed)
		},
		// what arrived before the connection broke
		"break-after TEXT...": func(args ...string) (string, error) {
			_, err := body.WriteString(strings.Join(args, " "))
			return "", err
		},
		"next": func(...string) (string, error) {
			event, _, err := decoder.Next()
			switch {
			case errors.Is(err, io.EOF):
				return "io.EOF", nil
			case errors.Is(err, io.ErrUnexpectedEOF):
				return "io.ErrUnexpectedEOF", nil
			case err != nil:
				return "another error", nil
			}
			if event.ResourceVersion != "" {
				position = event.ResourceVersion
			}
			return describe(event), nil
		},
		// where the next watch begins
		"position": func(...string) (string, error) { return position, nil },
	}
}

// describe writes an event with what the caller sees of it.
func describe(event api.WatchEvent[*api.PartialObjectMetadata]) string {
	switch {
	case event.Status != nil:
		return fmt.Sprintf("%s with code %d", event.Type, event.Status.Code)
	case event.Object != nil:
		return fmt.Sprintf("%s %s@%s", event.Type, event.Object.Name, event.ResourceVersion)
	}
	return fmt.Sprintf("%s without an object, version %s", event.Type, event.ResourceVersion)
}
