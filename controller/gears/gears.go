// Package gears selects the fast or the textbook form of each component (a "gear"). The textbook
// form is a page that explains the gear; both forms pass the same contract suite. A [Set] names the
// form of each gear, as the flag --gears does: "fast", "textbook",
// "fast,queue=textbook,deltafifo=inorder". The constructors of this package return the selected
// forms. The zero [Set] is fast. A Set is immutable and safe for concurrent use.
package gears

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"orrery/deltafifo"
	"orrery/deltafifo/inorder"
	"orrery/informer"
	informerfast "orrery/informer/fast"
	"orrery/queue"
	queuefast "orrery/queue/fast"
	"orrery/restclient"
	restclientfast "orrery/restclient/fast"
)

// The forms of gears.
const (
	Fast     = "fast"
	Textbook = "textbook"
	InOrder  = "inorder"
)

// forms are the forms of each gear, the default first. A gear has the name of its package.
var forms = map[string][]string{
	"queue":      {Fast, Textbook},
	"deltafifo":  {Fast, Textbook, InOrder},
	"indexer":    {Fast, Textbook},
	"informer":   {Fast, Textbook},
	"reflector":  {Fast, Textbook},
	"nsctl":      {Fast, Textbook},
	"restclient": {Fast, Textbook},
}

// Names returns the names of the gears, sorted.
func Names() []string { return slices.Sorted(maps.Keys(forms)) }

// Set is a form for every gear. The zero value is the fast form of each. A Set is immutable and may
// be copied; its pointer is a flag.Value and a pflag.Value.
type Set struct {
	others map[string]string // the gears whose form is not Fast
}

// Parse parses a set such as "fast", "textbook" or "fast,queue=textbook,deltafifo=inorder": an
// optional form for all gears, then forms for single gears. The error lists the valid names.
func Parse(text string) (Set, error) {
	chosen, named := map[string]string{}, map[string]bool{}
	for i, part := range strings.Split(text, ",") {
		gear, form, single := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case !single && i == 0 && (gear == Fast || gear == Textbook):
			for _, name := range Names() {
				chosen[name] = gear
			}
		case !single && (gear == Fast || gear == Textbook):
			return Set{}, fmt.Errorf("%s is for all gears and has to come first, once", gear)
		case !single && forms[gear] != nil:
			return Set{}, fmt.Errorf("%s needs a form; its forms are %s", gear, strings.Join(forms[gear], ", "))
		case !single:
			return Set{},
				fmt.Errorf("there is no set of gears %q; use fast, textbook, or single gears such as queue=textbook",
					part)
		case forms[gear] == nil:
			return Set{}, fmt.Errorf("there is no gear %q; the gears are %s", gear, strings.Join(Names(), ", "))
		case !slices.Contains(forms[gear], form):
			return Set{}, fmt.Errorf("%s has no form %q; its forms are %s", gear, form, strings.Join(forms[gear], ", "))
		case named[gear]:
			return Set{}, fmt.Errorf("gear %s is given twice", gear)
		default:
			chosen[gear], named[gear] = form, true
		}
	}
	maps.DeleteFunc(chosen, func(_, form string) bool { return form == Fast })
	return Set{others: chosen}, nil
}

// Form returns the form of a gear.
func (s Set) Form(gear string) string {
	if form, ok := s.others[gear]; ok {
		return form
	}
	return Fast
}

// Forms returns the form of every gear.
func (s Set) Forms() map[string]string {
	all := map[string]string{}
	for gear := range forms {
		all[gear] = s.Form(gear)
	}
	return all
}

// String returns a text that [Parse] reads as the set: "textbook" if no gear is fast, otherwise
// "fast", and the gears that have another form.
func (s Set) String() string {
	base := Fast
	if len(s.others) == len(forms) {
		base = Textbook
	}
	parts := []string{base}
	for _, gear := range Names() {
		if form := s.Form(gear); form != base {
			parts = append(parts, gear+"="+form)
		}
	}
	return strings.Join(parts, ",")
}

// Set parses text into s; see [Parse].
func (s *Set) Set(text string) error {
	parsed, err := Parse(text)
	if err == nil {
		*s = parsed
	}
	return err
}

// Type returns the name of the flag's value in the help.
func (s *Set) Type() string { return "gears" }

// Informer returns the gears of an informer.
func Informer[T any](s Set) informer.Gears[T] {
	g := informerfast.Gears[T]()
	// Nil selects the textbook form.
	switch s.Form("deltafifo") {
	case Textbook:
		g.NewQueue = nil
	case InOrder:
		g.NewQueue = func(cfg deltafifo.Config[T]) informer.Queue[T] { return inorder.New(cfg) }
	}
	if s.Form("indexer") == Textbook {
		g.NewStore = nil
	}
	if s.Form("reflector") == Textbook {
		g.NewReflector = nil
	}
	if s.Form("informer") == Textbook {
		g.NewProcessor = nil
	}
	return g
}

// NewQueue returns the work queue of a controller.
func (s Set) NewQueue(limiter queue.RateLimiter[string],
	config queue.Config[string]) queue.ObservableInterface[string] {
	if s.Form("queue") == Fast {
		return queuefast.NewRateLimiting(limiter, config)
	}
	return queue.NewRateLimiting(limiter, config)
}

// Choose returns the form of a gear that the set names, for a gear without a constructor here:
//
//	newDeleter := gears.Choose(set, "nsctl", nsctlfast.NewDeleter, nsctl.NewDeleter)
func Choose[F any](s Set, gear string, fast, textbook F) F {
	if s.Form(gear) == Textbook {
		return textbook
	}
	return fast
}

// Codec returns the decoder of the API server's answers.
func (s Set) Codec() restclient.Codec {
	if s.Form("restclient") == Fast {
		return restclientfast.Codec{}
	}
	return restclient.PlainCodec()
}
