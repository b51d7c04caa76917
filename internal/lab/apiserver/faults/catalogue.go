package faults

import "slices"

// The names of the kinds, as they are written.
const (
	// Compact makes the store forget its history. An action.
	Compact = "compact"
	// CutWatches ends the connection of every watch. An action.
	CutWatches = "cut-watches"

	silence            = "silence"
	tooManyRequests    = "too-many-requests"
	internalError      = "internal-error"
	unavailable        = "unavailable"
	delay              = "delay"
	conflict           = "conflict"
	brokenGroup        = "broken-group"
	webhookDenies      = "webhook-denies"
	webhookUnreachable = "webhook-unreachable"
	forbid             = "forbid"
	staleReads         = "stale-reads"
	nodeLost           = "node-lost"
	expireContinue     = "expire-continue"
	withholdBookmarks  = "withhold-bookmarks"
	interruptStreams   = "interrupt-streaming-lists"
	repeatEvents       = "repeat-events"
	staleEvents        = "stale-events"
	holdEvents         = "hold-events"
)

// Actions returns the names of the actions: faults that happen once, or every so often, instead of lasting.
func Actions() []string { return []string{Compact, CutWatches} }

// Catalogue returns the kinds of faults in the order in which they are best explained.
func Catalogue() []Kind { return slices.Clone(catalogue) }

var (
	scopeOptions = []Option{
		{"verb", "only these verbs, list|watch for several; any"},
		{"group", "only these API groups, core for the one without a name; any"},
		{"resource", "only these resources, namespaces/finalize for a subresource; any"},
		{"namespace", "only in these namespaces; any"},
		{"name", "only objects of these names; any"},
		{"user", "only these users; any"},
	}
	shareOptions = []Option{
		{"share", "the part of the requests that is hit, 0.3 or 30%; all"},
		{"seed", "where the dice that decide a share start, a whole number; 1"},
	}
	countOption = Option{"count", "over after this many hits; no limit"}
	forOption   = Option{"for", "over after this time, 30s; no limit"}
	limits      = []Option{countOption, forOption}
	everyOption = Option{"every", "again and again after this time, 10s; once"}
)

func options(groups ...[]Option) []Option { return slices.Concat(groups...) }

var catalogue = []Kind{
	{
		Name: CutWatches, Usage: "cut-watches:every=10s,count=3", Action: true,
		Summary: "Breaks the connection of every watch, as a restarted server or a load balancer does.",
		Teaches: "A watch that ends is no error: the reflector resumes from the last version that it saw, and misses nothing.",
		Options: options([]Option{everyOption}, limits),
	},
	{
		Name: Compact, Usage: "compact", Action: true,
		Summary: "Forgets all history: whoever resumes a watch from an older version gets 410 Expired.",
		Teaches: "History is finite (etcd is compacted every five minutes). After a 410 there is only one way back: list anew, " +
			"and find what was deleted meanwhile by what is missing.",
		Options: options([]Option{everyOption}, limits),
	},
	{
		Name: silence, Usage: "silence:for=2m",
		Summary: "Half-open connections: watches stay open and say nothing, not even that they end.",
		Teaches: "A silent watch looks exactly like a quiet cluster. Only a deadline tells them apart: the timeout of each watch, " +
			"and keep-alive pings below it.",
		Options: options([]Option{forOption}),
	},
	{
		Name: holdEvents, Usage: "hold-events:for=20s,resource=configmaps",
		Summary: "Watches fall behind: they say nothing, and catch up when the fault is over.",
		Teaches: "A cache is late, always, and sometimes by much. Whoever acts on one has to be right also when everything comes at once.",
		Options: options(scopeOptions, []Option{forOption}),
	},
	{
		Name: withholdBookmarks, Usage: "withhold-bookmarks:which=initial",
		Summary: "Sends no bookmarks: not the regular ones, or not those that end the initial events of a streaming list.",
		Teaches: "Without bookmarks a quiet watch grows old, and a silent one looks dead. A streaming list without its bookmark has no end; " +
			"who waits for it lists instead, in the end.",
		Options: options([]Option{{"which", "regular, initial or all; all"}}, scopeOptions, []Option{forOption}),
	},
	{
		Name: interruptStreams, Usage: "interrupt-streaming-lists:after=3,count=1",
		Summary: "Breaks the connection of a streaming list in the middle of its initial events.",
		Teaches: "Half a list is no list: what had come is thrown away, and nothing is concluded from what had not.",
		Options: options([]Option{{"after", "how many initial events are sent before; 1"}}, scopeOptions, shareOptions, limits),
	},
	{
		Name: expireContinue, Usage: "expire-continue:share=50%",
		Summary: "Answers 410 Expired to whoever asks for the next page of a list.",
		Teaches: "Pages are of one version, and that may be forgotten between two of them. The way on is a list in one piece.",
		Options: options(scopeOptions, shareOptions, limits),
	},
	{
		Name: repeatEvents, Usage: "repeat-events:back=3,share=10%",
		Summary: "Sends the last events of a watch a second time.",
		Teaches: "A version that is not newer than what one has seen is no news, whatever kind of event brings it: an object that " +
			"was deleted must not come back because its addition is told twice.",
		Options: options([]Option{{"back", "how many events are repeated; 1"}}, scopeOptions, shareOptions, limits),
	},
	{
		Name: staleEvents, Usage: "stale-events:back=5,share=10%",
		Summary: "Sends one old event of a watch again, and nothing that corrects it.",
		Teaches: "A store that takes every event for news goes back in time, and stays there until the object changes again.",
		Options: options([]Option{{"back", "how many events ago; 2"}}, scopeOptions, shareOptions, limits),
	},
	{
		Name: tooManyRequests, Usage: "too-many-requests:share=0.3,retry-after=2s,verb=list",
		Summary: "Answers 429 with Retry-After, as priority and fairness does when a server has too much to do.",
		Teaches: "Waiting is the client's duty. One that comes back before it is asked to makes the overload worse.",
		Options: options([]Option{{"retry-after", "how long the client is asked to wait, whole seconds, or none; 1s"}}, scopeOptions, shareOptions, limits),
	},
	{
		Name: internalError, Usage: "internal-error:share=10%,resource=configmaps",
		Summary: "Answers 500 Internal error.",
		Teaches: "An error without advice is retried by the work queue, key by key and slower each time, not by the HTTP client.",
		Options: options([]Option{{"message", "what the server says went wrong"}}, scopeOptions, shareOptions, limits),
	},
	{
		Name: unavailable, Usage: "unavailable:for=20s",
		Summary: "Answers 503, as a server does that is starting or stopping.",
		Teaches: "Controllers outlive their server: caches keep what they know, loops back off with jitter and so do not all " +
			"come back in the same instant.",
		Options: options([]Option{{"retry-after", "how long the client is asked to wait, whole seconds; not said"}}, scopeOptions, shareOptions, limits),
	},
	{
		Name: delay, Usage: "delay:by=800ms,verb=deletecollection",
		Summary: "Answers late.",
		Teaches: "Slow requests hold workers, not the queue: it gets longer, each key once, and nobody else waits for it.",
		Options: options([]Option{{"by", "how late, 800ms; 1s"}}, scopeOptions, shareOptions, limits),
	},
	{
		Name: conflict, Usage: "conflict:count=3,resource=namespaces/finalize",
		Summary: "Answers the next update or patch with 409, as if somebody else had been faster.",
		Teaches: "Updates are compare-and-swap. Who is told 409 reads again, looks whether the change still makes sense, and only then repeats it.",
		Options: options(scopeOptions, shareOptions, []Option{{"count", "over after this many hits; 1"}, forOption}),
	},
	{
		Name: brokenGroup, Usage: "broken-group:group=metrics.k8s.io,version=v1beta1",
		Summary: "Announces an aggregated group whose server does not answer: discovery is incomplete, requests get 503.",
		Teaches: "The classic reason for a namespace that stays Terminating: the controller may not say that nothing is left " +
			"while it cannot know what there is. It deletes the rest and reports NamespaceDeletionDiscoveryFailure.",
		Options: options([]Option{{"group", "the group; metrics.k8s.io"}, {"version", "its version; v1beta1"}, forOption}),
	},
	{
		Name: webhookDenies, Usage: `webhook-denies:verb=delete,resource=configmaps,message="not today"`,
		Summary: "An admission webhook denies writes, and deletions with them.",
		Teaches: "Policies can keep a namespace alive: the condition NamespaceDeletionContentFailure carries the words of the webhook.",
		Options: options([]Option{{"webhook", "the name of the webhook; deny.example.com"}, {"message", "why it denies; it says nothing"}}, scopeOptions, shareOptions, limits),
	},
	{
		Name: webhookUnreachable, Usage: "webhook-unreachable:resource=pods",
		Summary: "An admission webhook that must be asked cannot be reached, so writes get 500.",
		Teaches: "A webhook with failurePolicy Fail makes one crashed pod everybody's problem. The usual cause is that the webhook itself ran in the namespace that is being deleted.",
		Options: options([]Option{{"webhook", "the name of the webhook; unreachable.example.com"}}, scopeOptions, shareOptions, limits),
	},
	{
		Name: forbid, Usage: "forbid:verb=deletecollection|delete,resource=secrets",
		Summary: "RBAC forbids: answers 403 to the requests that the options describe, of which there must be one.",
		Teaches: "Without the right to list, a controller has no cache at all; without the right to delete, it can only say so. " +
			"Neither gets better by retrying faster.",
		Options: options(scopeOptions, limits),
	},
	{
		Name: staleReads, Usage: "stale-reads:versions=5",
		Summary: "Reads come from a replica that lags behind by some versions, as caches of a server in a group may.",
		Teaches: "What was just written may not be seen yet. Writes with a resourceVersion are safe all the same, decisions from reads alone are not.",
		Options: options([]Option{{"versions", "how many versions reads are behind; 10"}, forOption}),
	},
	{
		Name: nodeLost, Usage: "node-lost:node=orrery-node-1",
		Summary: "The kubelet of a node does not answer: pods that are to end stay Terminating.",
		Teaches: "A pod is gone when its kubelet says so. Deletion waits for a node that may never come back, unless somebody " +
			"deletes with a grace period of 0 and takes the responsibility.",
		Options: options([]Option{{"node", "only these nodes; all"}, forOption}),
	},
}
