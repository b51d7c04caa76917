// Package restclient speaks HTTP to a Kubernetes API server, without any generated client.
//
// # Concept
//
// An API server is a tree of collections of JSON documents. Everything that a controller does is one of a handful of
// verbs on a collection: get, list, watch, create, update, patch, delete, delete the whole collection. A [Resource] is
// such a collection with its verbs:
//
//	client, err := restclient.New(restclient.Config{Host: "https://10.0.0.1:6443", ...})
//	namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
//	pods := restclient.Metadata(client, api.PodsResource, "shop")             // heads only
//	anything := restclient.Dynamic(client, gvr, "shop")                       // whole JSON documents
//
// Below it is a [Client], which turns a [Request] into an answer that has been read, understood and closed: it waits
// for the rate limit, builds the HTTP request afresh, has [Credentials] sign it, sends it over connections that it
// keeps, and repeats it where that is right. [Client.Do] is the way to everything that is not a resource.
//
// A list is decoded while it arrives, item by item. A watch is one answer that does not end: a stream of events, over
// chunked HTTP or over a websocket, which the caller pulls ([api.Watcher]):
//
//	            ┌ chunked body ┐
//	API server ─┤              ├─ [EventDecoder]: type, object ─ Next
//	            └ websocket    ┘
//
// Bodies are JSON and are decoded by encoding/json, on two pages: watch_decoder.go and decoder.go. A controller may have a
// hundred thousand objects of a [Metadata] resource. For those, Config.Codec takes fast.Codec of package restclient/fast,
// which also reads protobuf.
//
// # Guarantees
//
//   - A body is closed before a method returns. It is read to its end if it was understood, so that connections are
//     used again.
//   - Names that would address something else than one object ("", "..", "a/b") are refused before anything is sent.
//   - Events come in the order in which the server sent them; a clean end is io.EOF, a stream that breaks off inside an
//     event is io.ErrUnexpectedEOF in a [*TransportError]. Nothing is retried inside a stream: the caller must
//     know of the gap.
//   - A watch that is not pulled holds the server back; an API server ends watches that are too slow.
//   - Authorization headers, tokens, passwords in URLs and query values that are not known to be harmless appear in no
//     error, no trace hook and no String. Bodies appear in no error, except for the text of an error answer.
//   - Credentials do not follow a redirect to another host, and no redirect leads from https to http.
//   - Objects of a Metadata resource have no managed fields. With fast.Codec they may share maps and slices: make a DeepCopy
//     before you change one.
//   - Memory is bounded by Config.MaxFrameBytes for a value of a stream and Config.MaxBodyBytes for a body.
//
// # Goroutines
//
// The package starts none of its own. net/http has a few per connection; they end when [Client.Close] has been called
// and the last request or watch has ended. A watch over websocket has none: Next reads from the connection, and a timer
// sends pings.
// Client, Resource and Watcher.Stop may be used from any goroutine, Watcher.Next from one at a time. When a context ends,
// so do the wait for the rate limit, the pause before a repetition, the request and the watch that were started with it.
//
// # Failure
//
// Every error is one of these, possibly wrapped in an [*AttemptsError]:
//
//	*api.StatusError   the server refused; ask api.IsNotFound, api.IsConflict, api.IsExpired ...
//	*TransportError    no (complete) answer; Kind says what is wrong, Sentence says it to a person
//	*CertificateExpiredError  the server refused us, and the reason is known; wraps the *api.StatusError
//	*DecodeError       an answer that cannot be decoded; wraps *TooLargeError or the JSON error
//	*NameError, ErrReadOnly, *ConfigError   nothing was sent
//
// A request is repeated, up to Config.MaxRetries times, in these cases:
//
//	what happened                        which requests      pause
//	429 or 5xx with Retry-After          all                 what the header says: seconds or an HTTP date
//	                                                         (more than Config.MaxRetryAfter: not repeated)
//	429 without Retry-After              all but watches     0.1, 0.2, 0.4, 0.8 s (each up to half more), then it is enough
//	5xx without Retry-After, not 501     GET, not watches    the same
//	connection broke, body broke off     GET, not watches    the same
//	401 and there are other credentials  all                 none; once
//
// Only the last applies with [api.WithSingleAttempt], which a Reflector uses because it has a back-off of its own.
//
// Refused connections, unknown hosts and bad certificates are reported at once. client-go reads Retry-After only as a number
// and never repeats a 5xx without it; the difference is intended (regression tests TestDefect8_15...).
//
// The rate limit (Config.QPS and Burst) counts attempts, not watches. Its default is 50 a second with a burst of 100;
// client-go has 5 and 10, which nearly every program has to raise.
//
// A connection can die without an error, for instance when a firewall forgets it. Every wait for such a connection ends:
//
//	HTTP/2        a ping after 30 silent seconds. Without an answer within 15 s the connection is closed, and its requests
//	              and watches fail.
//	websocket     the same, by pings of this package; the watch fails with ConnectionDead
//	TCP           keep-alive probes at the same times, if Config.Dial is nil; a proxy on the way answers them
//	HTTP/1.1      a watch is not tested: ProvesLife of Watcher and Resource is false, and the caller must watch for silence.
//	              A Reflector does, and asks the server to end the watch before that.
//	any request   Config.SilenceTimeout: 90 seconds in which nothing of the answer is received
//
// # Testing
//
// Package restclienttest runs a server at the other end of pipes, inside a testing/synctest bubble: retries that
// take minutes and watches that last for hours are tested at once, and a bubble that ends has no goroutine left.
// Every test of lists and watches runs with each form of the decoder.
//
// Next: package nsctl
package restclient
