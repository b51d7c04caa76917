package restclient

import "io"

// countedBody counts what is read of an answer. It belongs to one goroutine.
type countedBody struct {
	body io.ReadCloser
	n    int
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.n += n
	return n, err
}

func (b *countedBody) Close() error { return b.body.Close() }
