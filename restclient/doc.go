// Package restclient speaks HTTP to a Kubernetes API server, without any generated client.
//
// # Concept
//
// An API server is a tree of collections of JSON documents. A controller uses a few verbs on them:
// get, list, watch, create, update, patch, delete, delete collection. A [Resource] is a collection
// with its verbs:
//
//	client, err := restclient.New(restclient.Config{Host: "https://10.0.0.1:6443", ...})
//	namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
//	pods := restclient.Metadata(client, api.PodsResource, "shop")             // metadata only
//	anything := restclient.Dynamic(client, gvr, "shop")                       // whole JSON documents
//
// Below it is a [Client]. For each [Request] it waits for the rate limit, lets [Credentials]
// authenticate the HTTP request, sends it over its connections, retries where that is safe, and
// decodes the answer. [Client.Do] sends requests for anything that is not a resource.
//
// A list is decoded item by item as it arrives. A watch is a stream of events, over chunked HTTP or
// a websocket, from which the caller reads ([api.Watcher]):
//
//	            ┌ chunked body ┐
//	API server ─┤              ├─ [EventDecoder]: type, object ─ Next
//	            └ websocket    ┘
//
// Bodies are JSON and are decoded by encoding/json, on two pages: watch_decoder.go and decoder.go.
// A controller may have a hundred thousand objects of a [Metadata] resource. For those,
// Config.Codec takes fast.Codec of package restclient/fast, which also reads protobuf.
//
// # Guarantees
//
//   - A body is closed before a method returns. If it was decoded it is read to its end, so that the connection is
//     reused.
//   - Names that do not address exactly one object ("", "..", "a/b") are refused before anything is sent.
//   - Events come in the order in which the server sent them; a clean end is io.EOF, a stream that breaks off inside an
//     event is io.ErrUnexpectedEOF in a [*TransportError]. Nothing is retried inside a stream: the caller must
//     know of the gap.
//   - A watch that is not read blocks the server; an API server ends watches that are too slow.
//   - Authorization headers, tokens, passwords in URLs and query values that are not known to be harmless appear in no
//     error, no trace hook and no String. Bodies appear in no error, except for the text of an error answer.
//   - Credentials do not follow a redirect to another host, and no redirect leads from https to http.
//   - Objects of a Metadata resource have no managed fields. With fast.Codec they may share maps and slices: make a DeepCopy
//     before you change one.
//   - Memory is bounded by Config.MaxFrameBytes for a value of a stream and Config.MaxBodyBytes for a body.
//
// # Goroutines
//
// The package starts none of its own. net/http has a few per connection; they end when
// [Client.Close] has been called and the last request or watch has ended. A watch over websocket
// has none: Next reads from the connection, and a timer sends pings. Client, Resource and
// Watcher.Stop may be used from any goroutine, Watcher.Next from one at a time. When a context
// ends, so do the wait for the rate limit, the pause before a repetition, the request and the watch
// that were started with it.
//
// # Failure
//
// Every error is one of these, possibly wrapped in an [*AttemptsError]:
//
//	*api.StatusError   the server refused; see api.IsNotFound, api.IsConflict, api.IsExpired ...
//	*TransportError    no complete answer; Kind is the cause, Sentence explains it to a user
//	*CertificateExpiredError  a 401 whose cause is known; wraps the *api.StatusError
//	*DecodeError       an answer that cannot be decoded; wraps *TooLargeError or the JSON error
//	*NameError, ErrReadOnly, *ConfigError   nothing was sent
//
// A request is repeated, up to Config.MaxRetries times, in these cases:
//
//	failure                              retried requests    pause
//	429 or 5xx with Retry-After          all                 what the header says: seconds or an HTTP date
//	                                                         (more than Config.MaxRetryAfter: not repeated)
//	429 without Retry-After              all but watches     0.1, 0.2, 0.4, 0.8 s (each up to half more)
//	5xx without Retry-After, not 501     GET, not watches    the same
//	connection or body broken            GET, not watches    the same
//	401 and new credentials              all                 none; once
//
// Only the last applies with [api.WithSingleAttempt], which a Reflector uses because it has a
// back-off of its own.
//
// Refused connections, unknown hosts and bad certificates are reported at once. client-go reads
// Retry-After only as a number and never repeats a 5xx without it; the difference is intended
// (regression tests TestDefect8_15...).
//
// The rate limit (Config.QPS and Burst) counts attempts, not watches. Its default is 50 a second
// with a burst of 100; client-go has 5 and 10, which nearly every program has to raise.
//
// A connection can die without an error, for instance when a firewall forgets it. Every wait for
// such a connection ends:
//
//	HTTP/2        a ping after 30 silent seconds. Without an answer within 15 s the connection is closed, and its requests
//	              and watches fail.
//	websocket     the same, by pings of this package; the watch fails with ConnectionDead
//	TCP           keep-alive probes at the same times, if Config.Dial is nil; a proxy on the way answers them
//	HTTP/1.1      a watch is not tested: HasKeepalive of Watcher and Resource is false, and the caller must watch for silence.
//	              A Reflector does, and asks the server to end the watch before that.
//	any request   Config.SilenceTimeout: 90 seconds in which nothing of the answer is received
//
// HTTP/2 sends no ping while the events of a watch arrive, even if the way to the server is dead.
// So when the time for a request is over, and no other request has been answered meanwhile, later
// requests get a new connection.
//
// # Testing
//
// Package restclienttest runs a server at the other end of pipes, inside a testing/synctest bubble:
// retries that take minutes and watches that last for hours are tested at once, and a bubble that
// ends proves that no goroutine is left. Every test of lists and watches runs with each form of the
// decoder.
//
// Next: package nsctl
package restclient
