// Package restclient speaks HTTP to a Kubernetes API server, without any generated client.
//
// # Concept
//
// An API server is a tree of collections of JSON documents. A [Resource] is a collection with its
// verbs: get, list, watch, create, update, patch, delete, delete collection.
//
//	client, err := restclient.New(restclient.Config{Host: "https://10.0.0.1:6443", ...})
//	namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
//	pods := restclient.Metadata(client, api.PodsResource, "shop")             // metadata only
//	anything := restclient.Dynamic(client, gvr, "shop")                       // whole JSON documents
//
// Below it is a [Client]. For each [Request] it waits for the rate limit, lets [Credentials]
// authenticate the HTTP request, sends it over its connections, retries where that is safe, and
// decodes the answer. A watch is a stream of events, over chunked HTTP or a websocket, from which
// the caller reads ([api.Watcher]).
//
// # Guarantees
//
//   - Names that do not address exactly one object or type ("", "..", "a/b") are refused before
//     anything is sent.
//   - Events come in the order in which the server sent them. Nothing is retried inside a stream:
//     the caller must know of the gap.
//   - Authorization headers, tokens, passwords in URLs and query values that are not known to be
//     harmless appear in no error, no trace hook and no String. Bodies appear in no error, except
//     for the text of an error answer.
//   - No redirect is followed: a request reaches the configured server or none.
//   - Field names are case-sensitive, as Kubernetes has them (see [api.Unmarshal]).
//   - Memory is bounded: by Config.MaxFrameBytes for a value of a stream, Config.MaxListBytes for
//     a list, Config.MaxBodyBytes for another body, and over HTTP a megabyte for headers.
//     Texts of a refusal are cut.
//
// # Goroutines
//
// The package starts none of its own. Those of net/http end when [Client.Close] has been called and
// the last request or watch has ended. Client, Resource and Watcher.Stop may be used from any
// goroutine, Watcher.Next from one at a time.
//
// # Failure
//
// Every error is one of these:
//
//	*api.StatusError   the server refused; see api.IsNotFound, api.IsConflict, api.IsExpired ...
//	*TransportError    no complete answer; Kind is the cause, Sentence explains it to a user
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
// Only the last applies with [api.WithSingleAttempt]. client-go reads Retry-After only as a number
// and never repeats a 5xx without it; the difference is intended (tests TestDefect8_15...).
//
// A connection can die without an error, for instance when a firewall forgets it. Every wait for
// such a connection ends:
//
//	HTTP/2        pings: after 30 silent seconds, and 15 s for the answer; then its requests fail
//	websocket     the same, by pings of this package; the watch fails with ConnectionDead
//	TCP           keep-alive probes at the same times, if Config.Dial is nil
//	HTTP/1.1      nothing tests a watch: HasKeepalive is false, and a Reflector watches for silence
//	any request   90 seconds in which nothing of the answer is received
//	not a watch   Config.Timeout: 15 minutes for the whole answer, even if it never pauses
//
// Next: package controller
package restclient
