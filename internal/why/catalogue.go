package why

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Cause is an entry of the catalogue: one reason why a namespace stays.
type Cause struct {
	// ID is stable: "C07". Title is a noun phrase, Issues are numbers of kubernetes/kubernetes.
	ID     string
	Title  string
	Issues []int
	// Lesson explains the cause to a reader who meets it for the first time. Proof says what must
	// be seen.
	Lesson string
	Proof  string
	// Do are the ways out, the safest first. DoNot makes it worse. A finding may have more precise
	// ones.
	Do    []string
	DoNot string
	// Hides are the causes that this one may hide: while it holds, their evidence may be missing.
	Hides []string
	// Outdates are the causes whose evidence is older than this one: while it holds, they are not
	// named.
	Outdates []string
	// Waits: nothing is broken, and the namespace goes by itself.
	Waits bool
	// Itself: it concerns the namespace's own metadata, tokens and conditions, which count also
	// when its content is not waited for any more.
	Itself bool

	judge func(*Evidence) []Finding
}

// Catalogue returns the causes in the order of the report. It is a new slice with each call.
func Catalogue() []Cause {
	return slices.Concat(
		controllerCauses(), rightsCauses(), discoveryCauses(), storageCauses(), admissionCauses(), conversionCauses(), podCauses(),
		finalizerCauses(), contentCauses(), namespaceCauses(), nothingCauses(),
	)
}

// Lookup returns the cause with an id, in upper or lower case, or with its number.
func Lookup(id string) (Cause, bool) {
	if number, err := strconv.Atoi(strings.TrimLeft(id, "Cc")); err == nil {
		id = fmt.Sprintf("C%02d", number)
	}
	catalogue := Catalogue()
	at := slices.IndexFunc(catalogue, func(c Cause) bool { return strings.EqualFold(c.ID, id) })
	if at < 0 {
		return Cause{}, false
	}
	return catalogue[at], true
}

// IDs returns the ids of the catalogue, sorted.
func IDs() []string {
	var ids []string
	for _, cause := range Catalogue() {
		ids = append(ids, cause.ID)
	}
	slices.Sort(ids)
	return ids
}

// gracePeriod is how long after the deletion the controller begins: until then some API servers
// accept new content.
const gracePeriod = 5 * time.Second
