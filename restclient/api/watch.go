package api

// ListMeta is the metadata of a list.
type ListMeta struct {
	// ResourceVersion is the version of the listed collection; a watch may start from it.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Continue asks for the next page; empty on the last one.
	Continue string `json:"continue,omitempty"`
	// RemainingItemCount is the number of items on later pages, if the server knows it.
	RemainingItemCount *int64 `json:"remainingItemCount,omitempty"`
}

// List is the answer to a list request: items of one type at one resource version.
type List[T any] struct {
	TypeMeta `json:",inline"`
	ListMeta `json:"metadata"`
	Items    []T `json:"items"`
}

// WatchEventType is the type of a watch event.
type WatchEventType string

// The event types of a watch.
const (
	WatchAdded    WatchEventType = "ADDED"
	WatchModified WatchEventType = "MODIFIED"
	WatchDeleted  WatchEventType = "DELETED"
	// WatchBookmark has only a resource version: everything up to it has been delivered.
	WatchBookmark WatchEventType = "BOOKMARK"
	// WatchError has a Status; the stream ends after it.
	WatchError WatchEventType = "ERROR"
)

// InitialEventsAnnotation, with the value "true", marks the bookmark that ends the initial events
// of a streaming list (KEP-3157).
const InitialEventsAnnotation = "k8s.io/initial-events-end"

// WatchEvent is one change of a collection, decoded.
type WatchEvent[T any] struct {
	Type             WatchEventType
	Object           T       // the state after the change (for DELETED the last one); zero for BOOKMARK and ERROR
	ResourceVersion  string  // the object's or the bookmark's: the position to resume from
	InitialEventsEnd bool    // this bookmark ends the initial part of a streaming list
	Status           *Status // the reason. ERROR only.
}

// Watcher is an open watch, pulled by its one reader, without a channel, a goroutine or a hand-off
// per event.
type Watcher[T any] interface {
	// Next blocks for the next event. io.EOF means that the server ended the stream normally; any
	// other error means that it broke. After an error the watcher is unusable.
	Next() (WatchEvent[T], error)
	// Stop ends the watch and makes a blocked Next return. It may be called from any goroutine,
	// more than once. Ending the context that the watch was opened with does the same.
	Stop()
}

// IsInitialEventsEnd reports whether a bookmark with these annotations ends the initial part of a
// streaming list. Only the value "true" counts.
func IsInitialEventsEnd(annotations map[string]string) bool {
	return annotations[InitialEventsAnnotation] == "true"
}
