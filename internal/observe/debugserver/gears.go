package debugserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
)

// gears holds the parts of the process that /debug/orrery shows, in the order in which they were
// added.
type gears struct {
	mu   sync.Mutex
	list []gear // guarded by mu; only ever appended to
}

type gear struct {
	name     string
	snapshot func() any
}

func (g *gears) add(name string, snapshot func() any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = append(g.list, gear{name: name, snapshot: snapshot})
}

func (g *gears) all() []gear {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.list
}

// with returns the object with one more gear; "informer/pods" is the member "pods" of the member
// "informer".
func (o object) with(name string, value any) object {
	group, rest, nested := strings.Cut(name, "/")
	if !nested {
		return append(o, member{name, value})
	}
	for i, m := range o {
		if inner, ok := m.value.(object); ok && m.name == group {
			o[i].value = inner.with(rest, value)
			return o
		}
	}
	return append(o, member{group, object{}.with(rest, value)})
}

func (g *gears) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	longest := longestList
	if query.Has("all") {
		longest = math.MaxInt
	}
	shown := object{}
	var names []string
	for _, gear := range g.all() {
		names = append(names, gear.name)
		if !query.Has("gear") || query.Get("gear") == gear.name || strings.HasPrefix(gear.name, query.Get("gear")+"/") {
			shown = shown.with(gear.name, plain(gear.snapshot(), longest))
		}
	}
	if query.Has("gear") && len(shown) == 0 {
		sendText(w, http.StatusNotFound, "there is no gear of that name; there is: "+strings.Join(names, ", ")+"\n")
		return
	}
	text, err := json.Marshal(shown)
	if err != nil {
		sendText(w, http.StatusInternalServerError, fmt.Sprintf("this cannot be shown: %v\n", err))
		return
	}
	var answer bytes.Buffer
	if query.Has("pretty") {
		_ = json.Indent(&answer, text, "", "  ") // Marshal returns valid JSON
	} else {
		answer.Write(text)
	}
	answer.WriteByte('\n')
	w.Header().Set("Content-Type", "application/json")
	_, _ = answer.WriteTo(w)
}
