package reflector

import (
	"context"
	"sync"

	"orrery/restclient/api"
)

// listPages lists page by page, as upstream's pager does. The version of the first page is also
// that of the whole list.
func listPages[T any](ctx context.Context, c Config[T], rv string, s *status) (items []T, info ListInfo, err error) {
	opts := api.ListOptions{ResourceVersion: rv, Limit: c.PageSize}
	if opts.Limit == 0 && !definite(rv) { // a list at any other version comes from the server's cache as a whole
		opts.Limit = PageSize
	}
	if opts.Limit > 0 && definite(rv) { // without it the answer would be the old state itself
		opts.ResourceVersionMatch = api.MatchNotOlderThan
	}
	whole := false // the pages have expired; this is the second attempt, without them
	tokens := map[string]bool{}
	for {
		s.change(func(s *Snapshot) { s.Lists++ })
		info.Pages++
		page, err := c.ListerWatcher.List(ctx, opts)
		switch {
		case opts.Continue != "" && !whole && CauseOf(err) == CauseExpired: // list everything at once
			whole = true
			items, info.Pages, opts = nil, 0, api.ListOptions{ResourceVersion: rv}
			clear(tokens)
			continue
		case err != nil:
			return nil, info, err
		case tokens[page.Continue]:
			return nil, info, ErrRepeatedContinue
		case info.Pages == 1:
			info.ResourceVersion = page.ResourceVersion
		}
		s.trace.PageListed(PageInfo{ResourceVersion: page.ResourceVersion, Page: info.Pages, Items: len(page.Items),
			More: page.Continue != ""})
		items = append(items, page.Items...)
		if len(items) > c.MaxItems || info.Pages > len(items)+EmptyPages {
			return nil, info, ErrListTooLong
		}
		if page.Continue == "" {
			return items, info, nil
		}
		tokens[page.Continue] = true
		opts = api.ListOptions{Limit: opts.Limit, Continue: page.Continue}
	}
}

// result is a result of Watcher.Next.
type result[T any] struct {
	event api.WatchEvent[T]
	err   error
}

// resultChan reads w into a channel, so that a select can wait for it. The last result has an
// error. stop ends w and waits for the goroutine that reads it.
func resultChan[T any](w api.Watcher[T]) (results <-chan result[T], stop func()) {
	channel, done := make(chan result[T]), make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			event, err := w.Next()
			if err == nil && event.Type == api.WatchError {
				err = EventError(event.Status)
			}
			select {
			case channel <- result[T]{event, err}:
			case <-done:
				return
			}
			if err != nil {
				return
			}
		}
	})
	return channel, func() {
		close(done)
		w.Stop()
		reading.Wait()
	}
}
