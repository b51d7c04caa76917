package demo

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"

	"orrery/wait"
)

// newSecret makes a token that nobody guesses.
func newSecret() string { return rand.Text() }

// noProxy keeps the requests on this machine.
func noProxy(*http.Request) (*url.URL, error) { return nil, nil }

// restoring is a handler of panics that gives the terminal back first, so that the panic can be read.
func restoring(curtain *Curtain) wait.PanicHandler {
	return func(ctx context.Context, p *wait.Panic) {
		curtain.Fall()
		wait.LogPanic(ctx, p)
	}
}
