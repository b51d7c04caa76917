package why

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/internal/words"
)

// ReportVersion is the format of reports as JSON and YAML. Fields are added, never renamed.
const ReportVersion = "orrery/why.v2"

// Verdict is the judgement on the namespace as a whole.
type Verdict string

// The verdicts.
const (
	// Absent: the namespace does not exist, or went during the examination.
	Absent Verdict = "absent"
	// Active: its deletion was not requested.
	Active Verdict = "active"
	// Progressing: it is terminating, and nothing stops that.
	Progressing Verdict = "progressing"
	// Stuck: it stays until its cause is repaired; at least one cause is proven.
	Stuck Verdict = "stuck"
	// Unknown: it may be stuck, and no cause is proven.
	Unknown Verdict = "unknown"
)

// The exit codes of the verdicts.
const (
	ExitNotStuck = 0
	ExitError    = 1 // also: there is no namespace of that name
	ExitStuck    = 2
	ExitUnknown  = 3
)

// Certainty is how sure a finding is.
type Certainty string

// The certainties.
const (
	// Proven: every part of the proof was seen.
	Proven Certainty = "proven"
	// Possible: a part of the proof could not be read, see Finding.Missing.
	Possible Certainty = "possible"
	// Later: it will block the deletion after the other findings are gone.
	Later Certainty = "later"
)

// Report is the result of [Judge].
type Report struct {
	APIVersion      string    `json:"apiVersion"`
	Namespace       string    `json:"namespace"`
	UID             string    `json:"uid,omitempty"`
	ResourceVersion string    `json:"resourceVersion,omitempty"`
	Verdict         Verdict   `json:"verdict"`
	ExitCode        int       `json:"exitCode"`
	Sentence        string    `json:"sentence"`
	Checked         Checked   `json:"checked"`
	Findings        []Finding `json:"findings"`
}

// Checked says how much was examined.
type Checked struct {
	Types  int      `json:"types"` // read completely
	Unread []string `json:"unread"`
	// Reasons says why a type is unread, except for missing rights, which are a finding.
	Reasons map[string]string `json:"reasons,omitempty"`
	Objects int               `json:"objects"`
	// Left has the first object of each of the first three types that have objects.
	Left     []Blocked `json:"left,omitempty"`
	Requests int       `json:"requests"`
	Samples  int       `json:"samples"`
	// Took excludes Waited, the wait between the samples.
	Took   time.Duration `json:"-"`
	Waited time.Duration `json:"-"`
	// Incomplete says why the examination ended early.
	Incomplete string `json:"incomplete,omitempty"`
}

// Finding is one cause in this namespace.
type Finding struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Certainty Certainty `json:"certainty"`
	// Culprit is the object to repair; without one, the field is empty.
	Culprit Reference `json:"culprit,omitzero"`
	// Says is the finding as the second half of a sentence: "the webhook w cannot be reached".
	Says   string    `json:"says"`
	Owner  *Party    `json:"owner,omitempty"`
	Blocks []Blocked `json:"blocks,omitempty"`
	Proof  []Proof   `json:"proof"`
	// Missing says why the finding is not proven: what could not be read, and what was read and
	// speaks against it.
	Missing  []string `json:"missing,omitempty"`
	Do       []string `json:"do"`
	DoNot    []string `json:"doNot"`
	Remedies []Remedy `json:"remedies"`

	// lacks are the failed requests behind Missing.
	lacks []*Failure
	// finalizer is the only one that the finding is about; empty: it is about all of its objects.
	finalizer string
}

// Reference names an object.
type Reference struct {
	Resource  string `json:"resource"` // kubectl's name: "deployments.apps"
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String returns the reference in kubectl's form, without the namespace, on one line.
func (r Reference) String() string { return words.OneLine(r.Resource + "/" + r.Name) }

// whole returns the reference with its namespace, on one line.
func (r Reference) whole() string {
	if r.Namespace == "" {
		return r.String()
	}
	return words.OneLine(r.Resource + " " + r.Namespace + "/" + r.Name)
}

// Party is the owner of a finalizer.
type Party struct {
	Name string `json:"name"`
	// State is what was seen of it.
	State State `json:"state"`
}

// Blocked describes the objects of one type that cannot go.
type Blocked struct {
	Resource string   `json:"resource"`
	Count    int      `json:"count"`
	Examples []string `json:"examples,omitempty"`
}

// Proof is one part of a proof that was seen.
type Proof struct {
	Sample  int    `json:"sample"` // 1 or 2
	Says    string `json:"says"`
	Request string `json:"request,omitempty"`
}

// isAbsence reports whether a finding rests on an owner that is not in this cluster. It is never
// proven: no request shows what runs elsewhere.
func (f *Finding) isAbsence() bool { return f.Owner != nil && f.Owner.State == NotHere }

// saw adds a part of the proof that holds.
func (f *Finding) saw(sample int, request, format string, arguments ...any) {
	f.Proof = append(f.Proof, Proof{Sample: sample, Says: fmt.Sprintf(format, arguments...), Request: request})
}

// lack adds a reason why the finding is not proven. failed is a failed request behind it, or nil.
func (f *Finding) lack(failed *Failure, format string, arguments ...any) {
	text := fmt.Sprintf(format, arguments...)
	if failed != nil {
		text += ": " + failed.Message
		f.lacks = append(f.lacks, failed)
	}
	f.Missing = append(f.Missing, text)
}

// doubt adds a reason why the finding is not proven if it holds.
func (f *Finding) doubt(holds bool, format string, arguments ...any) {
	if holds {
		f.lack(nil, format, arguments...)
	}
}

// unread adds what a request could not read if it failed.
func (f *Finding) unread(failed *Failure, format string, arguments ...any) {
	if failed != nil {
		f.lack(failed, format, arguments...)
	}
}

// lackToo adds what another finding lacks.
func (f *Finding) lackToo(other Finding) {
	for _, missing := range other.Missing {
		if !slices.Contains(f.Missing, missing) {
			f.Missing = append(f.Missing, missing)
		}
	}
	f.lacks = append(f.lacks, other.lacks...)
}

// clock writes a moment in UTC, with the zone.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// objects writes how many objects of which type there are: "1 object of type configmaps".
func (b Blocked) objects() string { return words.Count(b.Count, "object") + " of type " + b.Resource }

// objects writes a number of objects of a type.
func (t Type) objects(n int) string { return Blocked{Resource: t.Name(), Count: n}.objects() }

// waiting writes how many objects wait: "1 object of type configmaps waits".
func (t Type) waiting(n int) string {
	if n == 1 {
		return t.objects(n) + " waits"
	}
	return t.objects(n) + " wait"
}

// fewNames is how many names of types a sentence has.
const fewNames = 4

// types writes names of types as a list. Of many it has the first ones: "a, b, c and 20 more
// types".
func types(names []string) string {
	if len(names) > fewNames {
		names = append(slices.Clone(names[:fewNames-1]), words.Count(len(names)-fewNames+1, "more type"))
	}
	return listed(names)
}

// listed writes words as a list: "a, b and c".
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
