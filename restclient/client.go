package restclient

import (
	"context"
	"errors"
)

// Client speaks to one API server. It may be used by any number of goroutines.
type Client struct {
	cfg Config
}

// New checks the configuration and builds a Client. It opens no connection.
func New(cfg Config) (*Client, error) {
	if cfg.Host == "" {
		return nil, errors.New("restclient: Config.Host is empty")
	}
	return &Client{cfg: cfg}, nil
}

// Config returns the configuration with which the client was built.
func (c *Client) Config() Config { return c.cfg }

// Close closes idle connections. Requests under way and watches are left alone: cancel their contexts.
func (c *Client) Close() {}

// Do sends the request and waits for the complete answer, repeating it as the retry rules say.
//
// into says what to do with the body of a successful (2xx) answer: nil drops it, *[]byte receives it raw,
// *Response receives status code, headers and raw body, anything else is filled by encoding/json.
// An answer that is not 2xx is an error that wraps *api.StatusError; no answer at all is a *TransportError; a body that
// cannot be understood is a *DecodeError.
func (c *Client) Do(ctx context.Context, req Request, into any) error {
	return errors.New("restclient: Do is not there yet")
}
