package secondcontroller

import (
	"context"
	"fmt"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
)

// Try waits canaryLooks times between two looks at its canary, canaryPace after each answer, which is CanaryWait with a server that
// answers at once. A namespace controller leaves a namespace alone for 5 s after its deletion and then takes some moments. Where each
// look takes its time the other controller does as well, and is given more: up to canaryLimit.
const (
	CanaryWait  = canaryLooks * canaryPace
	canaryLooks = 20
	canaryPace  = 500 * time.Millisecond
	canaryLimit = time.Minute
)

// MayTry tells whether the server would let Try make its canary and delete it. It has the server judge the requests without doing
// them.
func MayTry(ctx context.Context, client *restclient.Client) bool {
	c := newCanary(client)
	return c.create(ctx, true) == nil && c.mayRemove(ctx) == nil
}

// Try deletes a new namespace and sees whether somebody else takes it down, for about CanaryWait. It must not be called while the caller's
// own controller works, nor any other that is not looked for. waiting is called when the wait begins. The verdict is Unknown if the
// namespace cannot be made or deleted. The error is that of a context that has ended.
func Try(ctx context.Context, client *restclient.Client, waiting func(canary string)) (Evidence, error) {
	canary := newCanary(client)
	if err := canary.mayRemove(ctx); err != nil {
		return unknown(ctx, fmt.Sprintf("a namespace to find out with cannot be deleted: %v", err))
	}
	failure := canary.create(ctx, false)
	if isRefusal(failure) {
		return unknown(ctx, fmt.Sprintf("a namespace to find out with cannot be created: %v", failure))
	}
	if err := canary.remove(ctx, failure == nil); api.IsNotFound(err) {
		return unknown(ctx, fmt.Sprintf("a namespace to find out with cannot be created: %v", failure))
	} else if err != nil {
		return unknown(ctx, fmt.Sprintf("the namespace to find out with, %s, cannot be deleted: %v", canary.name, err))
	}
	if ctx.Err() != nil {
		return Evidence{}, ctx.Err()
	}
	waiting(canary.name)
	since := time.Now()
	touched := canary.awaitTouch(ctx)
	took := time.Since(since).Round(100 * time.Millisecond)
	switch {
	case ctx.Err() != nil:
		return Evidence{}, ctx.Err()
	case touched:
		return Evidence{Present, fmt.Sprintf("somebody took the namespace %s down, which was made and deleted to find out, within %s",
			canary.name, took)}, nil
	}
	return Evidence{Absent, fmt.Sprintf("nobody took the namespace %s down, which was made and deleted to find out, within %s", canary.name, took)}, nil
}

func unknown(ctx context.Context, how string) (Evidence, error) {
	if ctx.Err() != nil {
		return Evidence{}, ctx.Err()
	}
	return Evidence{How: how}, nil
}
