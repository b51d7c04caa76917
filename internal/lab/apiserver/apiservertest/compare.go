package apiservertest

import (
	"slices"
)

// common returns what of a recorded answer is to be compared with an answer: all of it, but for discovery documents,
// which list what a server happens to have. Of those, what the other server lacks is left out. What it has beyond the
// recording is left in its answer, and thereby a difference.
func common(recorded, answer *Answer) *Answer {
	if len(recorded.Documents) != 1 || len(answer.Documents) != 1 {
		return recorded
	}
	theirs, ok := recorded.Documents[0].(map[string]any)
	ours, alsoOK := answer.Documents[0].(map[string]any)
	if !ok || !alsoOK {
		return recorded
	}
	levels, ok := discoveryLists[kindOf(theirs)]
	if !ok || kindOf(ours) != kindOf(theirs) {
		return recorded
	}
	reduced := *recorded
	reduced.Documents = []any{intersect(theirs, ours, levels)}
	return &reduced
}

// list is a list of a discovery document: the member that holds it, and the member that names its items, which is
// "." separated when it is one of a member.
type list struct{ member, name string }

// discoveryLists are the lists of each kind of discovery document, from the outermost to the innermost.
var discoveryLists = map[string][]list{
	"APIGroupList":          {{"groups", "name"}, {"versions", "groupVersion"}},
	"APIGroup":              {{"versions", "groupVersion"}},
	"APIResourceList":       {{"resources", "name"}},
	"APIGroupDiscoveryList": {{"items", "metadata"}, {"versions", "version"}, {"resources", "resource"}, {"subresources", "subresource"}},
}

func kindOf(document map[string]any) string {
	kind, _ := document["kind"].(string)
	return kind
}

// intersect returns theirs without the items of its lists that ours does not have. The first and only group that has
// no name in common leaves the list empty, which differs from any list that is not.
func intersect(theirs, ours map[string]any, levels []list) map[string]any {
	if len(levels) == 0 {
		return theirs
	}
	level := levels[0]
	all, ok := theirs[level.member].([]any)
	if !ok {
		return theirs
	}
	have, _ := ours[level.member].([]any)
	kept := []any{}
	for _, item := range all {
		i := slices.IndexFunc(have, func(candidate any) bool { return nameOf(candidate, level.name) == nameOf(item, level.name) })
		if i >= 0 {
			kept = append(kept, intersect(item.(map[string]any), have[i].(map[string]any), levels[1:]))
		}
	}
	reduced := make(map[string]any, len(theirs))
	for name, value := range theirs {
		reduced[name] = value
	}
	reduced[level.member] = kept
	if len(kept) == 0 {
		if _, ok := ours[level.member]; !ok {
			delete(reduced, level.member)
		}
	}
	return reduced
}

// nameOf is the name of an item: a member, or metadata.name.
func nameOf(item any, member string) string {
	object, _ := item.(map[string]any)
	if member == "metadata" {
		object, _ = object["metadata"].(map[string]any)
		member = "name"
	}
	name, _ := object[member].(string)
	return name
}
