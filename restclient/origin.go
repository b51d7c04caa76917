package restclient

import "context"

type originKey struct{}

// WithOrigin returns a context in which requests are made on behalf of origin: hooks find it in [RequestInfo], and whoever
// reads a log can tell which requests belong together. It is any short text that names one piece of work and nothing
// secret; the server never learns of it.
func WithOrigin(ctx context.Context, origin string) context.Context {
	return context.WithValue(ctx, originKey{}, origin)
}

// OriginOf returns what requests with this context are made on behalf of, or "".
func OriginOf(ctx context.Context) string {
	origin, _ := ctx.Value(originKey{}).(string)
	return origin
}
