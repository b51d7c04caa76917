package causes

import (
	"time"
)

// Together sets up several situations in one namespace: each prepares its part, then the namespace is deleted, and each goes on.
// It returns when all have settled.
func Together(w *World, fixtures ...Fixture) {
	deleted := make(chan struct{})
	var settled []<-chan *World
	for _, f := range fixtures {
		part := NewWorld(w.ctx, w.client)
		prepared, end := make(chan struct{}), make(chan *World, 1)
		part.meet = func() {
			close(prepared)
			<-deleted
		}
		go func() {
			f.SetUp(part)
			part.sleep(f.settle())
			end <- part
		}()
		<-prepared
		settled = append(settled, end)
	}
	w.delete(inNamespace)
	close(deleted)
	for _, end := range settled {
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
