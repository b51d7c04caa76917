package debugserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"strings"
	"time"
	"unicode"
)

// gears holds the parts of the process that /debug/orrery shows, in the order in which they were
// added.
type gears struct{ named[func() any] }

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
			shown = shown.with(gear.name, plain(gear.call(), longest))
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

// plain converts a snapshot into a value that encoding/json writes for people: field names in lower
// camel case, errors and constants by their text, durations as 1m30s, and null for a zero time or a
// nil error.
//
// Long lists in a struct are cut, because showing the state of a busy process must not add to its
// load. The number of missing elements is beside the list, in a member with the suffix LeftOut.
func plain(value any, longest int) any {
	if value == nil {
		return nil
	}
	return plainer{longest}.value(reflect.ValueOf(value))
}

// longestList is how many elements of a list are shown without ?all.
const longestList = 500

// plainer makes values plain.
type plainer struct{ longest int }

func (p plainer) value(v reflect.Value) any {
	if text, ok := ownText(v); ok {
		return text
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return p.value(v.Elem())
	case reflect.Struct:
		return p.structure(v)
	case reflect.Map:
		return p.mapping(v)
	case reflect.Slice, reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = p.value(v.Index(i))
		}
		return list
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return nil
	default:
		return v.Interface()
	}
}

// ownText returns the text of a time, an error or a Stringer.
func ownText(v reflect.Value) (text any, ok bool) {
	if !v.CanInterface() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() {
		return nil, false
	}
	switch value := v.Interface().(type) {
	case time.Time:
		if value.IsZero() {
			return nil, true
		}
		return value, true
	case error:
		return value.Error(), true
	case fmt.Stringer:
		return value.String(), true
	}
	return nil, false
}

func (p plainer) structure(v reflect.Value) any {
	shown := object{}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		list, leftOut := p.beginning(v.Field(i))
		value := p.value(list)
		if inner, ok := value.(object); ok && field.Anonymous {
			shown = append(shown, inner...)
			continue
		}
		shown = append(shown, member{lowerCamel(field.Name), value})
		if leftOut > 0 {
			shown = append(shown, member{lowerCamel(field.Name) + "LeftOut", leftOut})
		}
	}
	return shown
}

// beginning returns the part of a list that is shown. Other values are shown completely.
func (p plainer) beginning(v reflect.Value) (shown reflect.Value, leftOut int) {
	if v.Kind() != reflect.Slice || v.Len() <= p.longest {
		return v, 0
	}
	return v.Slice(0, p.longest), v.Len() - p.longest
}

func (p plainer) mapping(v reflect.Value) any {
	shown := make(map[string]any, v.Len()) // encoding/json sorts the keys
	for _, key := range v.MapKeys() {
		shown[fmt.Sprint(key.Interface())] = p.value(v.MapIndex(key))
	}
	return shown
}

// lowerCamel returns resourceVersion for ResourceVersion, qps for QPS, uidOf for UIDOf.
func lowerCamel(name string) string {
	runes := []rune(name)
	for i := range runes {
		inWord := i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if !unicode.IsUpper(runes[i]) || inWord {
			break
		}
		runes[i] = unicode.ToLower(runes[i])
	}
	return string(runes)
}

// object is a JSON object that keeps the order of its members.
type object []member

type member struct {
	name  string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			text.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		text.Write(name)
		text.WriteByte(':')
		text.Write(value)
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}
