package integration_test

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// journal collects log lines with the time since the beginning.
type journal struct {
	began time.Time

	mu    sync.Mutex // the server and the informer write
	lines []string
}

func (j *journal) logf(format string, args ...any) {
	at := time.Since(j.began).Round(time.Millisecond)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf("%-7s %s", at, fmt.Sprintf(format, args...)))
}

// take returns the lines added since the last call.
func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

// options formats the options of a request, without the resource version and the random time limit
// of a watch.
func options(opts api.ListOptions) string {
	var out string
	if opts.ResourceVersionMatch != "" {
		out += " match=" + string(opts.ResourceVersionMatch)
	}
	if opts.Limit != 0 {
		out += fmt.Sprintf(" limit=%d", opts.Limit)
	}
	if opts.Continue != "" {
		out += " continue=" + opts.Continue
	}
	if opts.AllowWatchBookmarks {
		out += " bookmarks"
	}
	if opts.SendInitialEvents {
		out += " sendInitialEvents"
	}
	return out
}

// describe shortens an error to its type and cause, since the texts differ between transports.
func describe(err error) string {
	var (
		list  *reflector.ListError
		open  *reflector.WatchStartError
		watch *reflector.StreamError
	)
	what := fmt.Sprintf("%T", err)
	switch {
	case errors.As(err, &list):
		what = fmt.Sprintf("ListError (page %d)", list.Page)
	case errors.As(err, &open):
		what = "WatchStartError"
	case errors.As(err, &watch):
		what = "StreamError"
	}
	for _, own := range []error{
		reflector.ErrVeryShortWatch, reflector.ErrIdle, reflector.ErrListTimeout, reflector.ErrNoInitialBookmark,
		reflector.ErrRepeatedContinue, reflector.ErrListTooLong,
	} {
		if errors.Is(err, own) {
			return what + ": " + own.Error()
		}
	}
	if code := api.CodeOf(err); code != 0 {
		return fmt.Sprintf("%s: %s (%d)", what, reflector.CauseOf(err), code)
	}
	return fmt.Sprintf("%s: %s", what, reflector.CauseOf(err))
}
