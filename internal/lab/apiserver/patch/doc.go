// Package patch applies what a client sends with PATCH.
//
// # Concept
//
// There are three languages for changing a document, told apart by the content type. [Apply] speaks all of them.
//
// A JSON patch (RFC 6902) is a list of operations on places: test this, add that. It says exactly what is to happen, and
// nothing happens if one operation does not fit.
//
// A merge patch (RFC 7386) is a piece of the document as it is to be; null removes. It is easy to write, but cannot say
// anything about a list other than what the whole list is to be: whoever wants to change the image of one container must send all
// containers, and overwrites what others have changed meanwhile.
//
// A strategic merge patch is Kubernetes' answer to that. It looks like a merge patch, but the types say which lists are sets,
// and by which key an element is found again (containers by name, ports of a service by number). What a document cannot say
// is said by directives:
//
//	{"$patch": "replace", ...}              this map, or with it in a list the list, replaces the old one
//	{"$patch": "delete", "name": "log"}     the element with this key goes
//	"$retainKeys": ["type"]                 all other keys of this map go
//	"$deleteFromPrimitiveList/finalizers"   these values leave the set
//	"$setElementOrder/containers"           the order that the merged list is to have
//
// It needs the types (package schema), which is why it is refused for custom resources. kubectl apply computes such a patch from
// what was applied last, what is applied now, and what the server has. Server-side apply, the fourth language, is not built.
//
// The first two are the work of evanphx/json-patch, in the version that kube-apiserver uses, departures from the RFC included. A
// strategic merge patch is written by hand: the only library is Kubernetes' own, which needs Go structs where this server has trees.
//
// # Guarantees
//
// The current document is not changed, and the result shares nothing with it. The values of the result fit its type; fields that
// the type does not have are still in it, so that the server can warn. The number of operations, the nesting, what copies add and the
// size of the result have kube-apiserver's limits; strategic merge patches merge lists in the time of their length.
//
// # Goroutines
//
// None. Apply may be called by any number of goroutines.
//
// # Failure
//
// Every error is an *api.StatusError with the code, reason and message that kube-apiserver gives: 400 for what is no patch, 422 for
// one that does not fit the document or whose result does not fit the type, 413 for too much, 415 for a language that is not
// spoken here, and 500 for a strategic merge patch that contradicts itself, which the original does not take for the client's
// mistake.
//
// # Testing
//
// testdata/patches.jsonl has patches with the result or the refusal that a kube-apiserver gave. In upstream/apiserver/contract
// random patches are applied with the original implementations too, and must lead to the same documents. The laws of merging
// (an empty patch changes nothing, twice is once) are properties, hungry patches are refused, and FuzzApply takes any bytes.
//
// Next: package apiserver
package patch
