package story

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"orrery/internal/observe/trace"
	"orrery/internal/words"
)

var (
	place  = regexp.MustCompile(`\{(\w+)\}`)
	plural = regexp.MustCompile(`(\d+) (\w+(?: \w+)?)\[s\]`)
)

// filled returns the text of a sentence about an event. more has further fields.
func (s *State) filled(text string, e *trace.Event, more map[string]any) string {
	fields := map[string]any{}
	line, _ := json.Marshal(e)
	_ = json.Unmarshal(line, &fields)
	text = place.ReplaceAllStringFunc(text, func(name string) string {
		name = name[1 : len(name)-1]
		value, ok := more[name]
		switch {
		case ok && (name != "type" || e.Type == ""):
			return fmt.Sprint(value)
		case name == "us":
			return Short(time.Duration(e.Micros) * time.Microsecond)
		case name == "d":
			return Deltas(e.Deltas)
		case name == "err" && strings.HasPrefix(e.Err, "EOF"):
			return sentences()["EOF"][0].In(s.Lang)
		case fields[name] == nil:
			return "0"
		}
		return fmt.Sprint(fields[name])
	})
	return counted(text)
}

// counted writes each "3 object[s]" as one or many.
func counted(text string) string {
	return plural.ReplaceAllStringFunc(text, func(found string) string {
		text, noun, _ := strings.Cut(strings.TrimSuffix(found, "[s]"), " ")
		number, _ := strconv.Atoi(text)
		return words.Count(number, noun)
	})
}

//go:embed narration.yaml
var narration []byte

// translations are what the scripts say in Chinese, by what they say in English.
var translations = sync.OnceValue(func() map[string]string {
	var rows []words.Text
	if err := yaml.Unmarshal(narration, &rows); err != nil {
		panic(err) // the table is part of the program
	}
	all := map[string]string{}
	for _, row := range rows {
		all[row.English] = row.Chinese
	}
	return all
})

// said returns a text in the language of the story.
func (s *State) said(text string) string {
	if s.Lang != words.Chinese {
		return text
	}
	return cmp.Or(translations()[text], text)
}

// Say formats in the language of the story. Arguments that the table has are translated, too.
// "object[s]" is a plural behind a number.
func (s *State) Say(format string, args ...any) string {
	args = slices.Clone(args)
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = s.said(text)
		}
	}
	return counted(fmt.Sprintf(s.said(format), args...))
}

// deltas are the names of the letters of deltas.
var deltas = map[rune]string{
	'A': "Added", 'U': "Updated", 'D': "Deleted", 'R': "Replaced", 'S': "Sync", '†': "Deleted (tombstone)",
}

// Deltas returns the names of deltas.
func Deltas(letters string) string {
	var all []string
	for _, letter := range letters {
		all = append(all, deltas[letter])
	}
	return strings.Join(all, ", ")
}

// Short formats d with two or three significant digits.
func Short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	default:
		return d.Round(100 * time.Microsecond).String()
	}
}
