package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode"
)

// snapshots holds the parts of the process that /debug/orrery shows, in the order in which they
// were added.
type snapshots struct {
	named[func() any]
	showing sync.Mutex // held while an answer is made: one at a time, because each takes memory
}

func (g *snapshots) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	chosen := query.Get("gear") // "": all
	answer, problem, code := g.show(chosen, query.Has("pretty"))
	if problem != "" {
		sendText(w, code, problem)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = answer.WriteTo(w)
}

// show returns the JSON of the chosen parts, or a problem and its status code.
func (g *snapshots) show(chosen string, pretty bool) (answer *bytes.Buffer, problem string, code int) {
	g.showing.Lock()
	defer g.showing.Unlock()
	shown := map[string]any{}
	var names []string
	for _, gear := range g.all() {
		names = append(names, gear.name)
		if chosen != "" && chosen != gear.name && !strings.HasPrefix(gear.name, chosen+"/") {
			continue
		}
		into, name := shown, gear.name
		if group, nested, ok := strings.Cut(gear.name, "/"); ok {
			if shown[group] == nil {
				shown[group] = map[string]any{}
			}
			into, name = shown[group].(map[string]any), nested
		}
		into[name] = plain(reflect.ValueOf(gear.call()))
	}
	if chosen != "" && len(shown) == 0 {
		return nil, "there is no gear of that name; there is: " + strings.Join(names, ", ") + "\n", http.StatusNotFound
	}
	answer = &bytes.Buffer{}
	encoder := json.NewEncoder(answer)
	if pretty {
		encoder.SetIndent("", "  ")
	}
	if err := encoder.Encode(shown); err != nil {
		return nil, fmt.Sprintf("this cannot be shown: %v\n", err), http.StatusInternalServerError
	}
	return answer, "", http.StatusOK
}

// plain converts a snapshot into a value that encoding/json writes for people: field names in lower
// camel case, errors and constants by their text, durations as 1m30s, and null for a zero time or a
// nil error.
func plain(v reflect.Value) any {
	if !v.IsValid() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() {
		return nil
	}
	switch value := v.Interface().(type) {
	case time.Time:
		if value.IsZero() {
			return nil
		}
		return value
	case error:
		return value.Error()
	case fmt.Stringer:
		return value.String()
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return plain(v.Elem())
	case reflect.Struct:
		return plainStruct(v)
	case reflect.Map:
		shown := make(map[string]any, v.Len())
		for _, key := range v.MapKeys() {
			shown[fmt.Sprint(key.Interface())] = plain(v.MapIndex(key))
		}
		return shown
	case reflect.Slice, reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plain(v.Index(i))
		}
		return list
	default:
		return v.Interface()
	}
}

func plainStruct(v reflect.Value) any {
	shown := map[string]any{}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		name := lowerCamel(field.Name)
		shown[name] = plain(v.Field(i))
		if inner, isObject := shown[name].(map[string]any); isObject && field.Anonymous {
			delete(shown, name)
			maps.Copy(shown, inner)
		}
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
