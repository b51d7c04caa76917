package causes

import (
	"context"
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
	terminate(w)
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

// course has the twelve causes of lab 13 of the workshop. A namespace has one of each of its two
// groups: the first one has a cause that keeps the pods, and one that waits behind them; the second
// one has one that refuses deletions, and one that waits for something outside.
var course = map[string][2][]string{
	"first":  {{"C11", "C12", "C13"}, {"C06", "C04", "C05"}},
	"second": {{"C07", "C08", "C09"}, {"C15", "C16", "C18"}},
}

// Seeds is how many different pairs of namespaces lab 13 has. Seed 1 is the course's own.
const Seeds = 81

// IsOfCourse reports whether lab 13 has a namespace of that name: "first" or "second".
func IsOfCourse(name string) bool { return course[name][0] != nil }

// OfCourse returns the situation of a namespace of lab 13 for a seed.
func OfCourse(name string, seed uint64) Fixture {
	number := (seed + Seeds - 1) % Seeds * 50 % Seeds // neighbours have little in common
	if name == "second" {
		number /= 9
	}
	groups := course[name]
	f, ok := Find(groups[0][number%3] + separator + groups[1][number/3%3])
	if !ok {
		panic("causes: lab 13 names a cause that is none")
	}
	return f
}
