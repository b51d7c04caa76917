package causes

import (
	"context"
	"slices"
	"strings"
	"time"
)

// separator stands between the ids of a situation that consists of several.
const separator = "+"

// Combine returns the situation in which a namespace hangs for several causes at once. None of the
// fixtures may have [Fixture.NoController].
func Combine(fixtures ...Fixture) Fixture {
	all := Fixture{
		SetUp: func(w *World) { together(w, func(*World, Fixture) {}, fixtures) },
		Solve: func(w *World) {
			for _, f := range fixtures {
				f.Solve(w)
			}
		},
	}
	var ids []string
	for _, f := range fixtures {
		ids = append(ids, f.ID)
		all.Keep = append(all.Keep, f.Keep...)
		all.Settle = max(all.Settle, f.settle())
	}
	all.ID = strings.Join(ids, separator)
	return all
}

// IDs are those of the causes of which the situation consists.
func (f Fixture) IDs() []string { return strings.Split(f.ID, separator) }

// together sets several fixtures up in one namespace: each prepares its part, then the namespace is
// deleted, and each goes on. then is called with each when it is set up.
func together(w *World, then func(part *World, f Fixture), fixtures []Fixture) {
	deleted := make(chan struct{})
	var ends []<-chan *World
	for _, f := range fixtures {
		part := NewWorld(w.ctx, w.client)
		prepared, end := make(chan struct{}), make(chan *World, 1)
		part.meet = func() {
			close(prepared)
			<-deleted
		}
		w.beside.StartWithContext(w.ctx, func(context.Context) {
			f.SetUp(part)
			then(part, f)
			end <- part
			part.Wait()
		})
		<-prepared
		ends = append(ends, end)
	}
	w.delete(inNamespace)
	close(deleted)
	for _, end := range ends {
		if part := <-end; w.err == nil {
			w.err = part.err
		}
	}
}

func (f Fixture) settle() time.Duration {
	if f.Settle == 0 {
		return Settled
	}
	return f.Settle
}

// has reports whether the situation has a cause.
func (f Fixture) has(id string) bool { return slices.Contains(f.IDs(), id) }
