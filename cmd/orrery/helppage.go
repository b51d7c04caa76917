package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// page is a text for people that is being written for a certain width.
type page struct {
	text  strings.Builder
	width int
}

func (p *page) line(text string) { p.text.WriteString(strings.TrimRight(text, " ") + "\n") }

func (p *page) heading(title string) { p.line("\n" + title + ":") }

// paragraphs writes a text, with lines as long as the page is wide. Lines that begin with a space are left as they are.
func (p *page) paragraphs(indent, text string) {
	var pending []string
	flush := func() {
		if len(pending) > 0 {
			p.wrap(indent, strings.Join(pending, " "))
			pending = nil
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && !strings.HasPrefix(line, " ") {
			pending = append(pending, line)
			continue
		}
		flush()
		p.line(line)
	}
	flush()
}

func (p *page) wrap(indent, text string) {
	for _, line := range wrapped(text, p.width-len(indent)) {
		p.line(indent + line)
	}
}

// entry is a name and what it stands for, in two columns.
func (p *page) entry(name, meaning string, column int) {
	for i, line := range wrapped(meaning, p.width-column-4) {
		if i > 0 {
			name = ""
		}
		p.line(fmt.Sprintf("  %-*s  %s", column, name, line))
	}
}

// widestName is how wide the first column of a table gets: names that are wider stand on a line of their own.
const widestName = 28

// list is a section of entries that have several lines: these stand below the names.
func (p *page) list(title string, entries [][2]string) {
	p.heading(title)
	for _, entry := range entries {
		p.line("  " + entry[0])
		for line := range strings.SplitSeq(entry[1], "\n") {
			p.wrap("      ", line)
		}
	}
}

// table is a section of entries.
func (p *page) table(title string, entries [][2]string) {
	if len(entries) == 0 {
		return
	}
	if slices.ContainsFunc(entries, func(entry [2]string) bool { return strings.Contains(entry[1], "\n") }) {
		p.list(title, entries)
		return
	}
	p.heading(title)
	column := 0
	for _, entry := range entries {
		if width := utf8.RuneCountInString(entry[0]); width <= widestName {
			column = max(column, width)
		}
	}
	for _, entry := range entries {
		name, meaning := entry[0], entry[1]
		if utf8.RuneCountInString(name) > widestName {
			p.line("  " + name)
			name = ""
		}
		p.entry(name, meaning, column)
	}
}

// flags writes the flags of a command in their groups: each on a line of its own, and below it what it means.
func (p *page) flags(command *cobra.Command) {
	group := "Flags"
	first := true
	command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden || flag.Name == "help" {
			return
		}
		if named, ok := flag.Annotations[flagGroup]; ok && named[0] != group || first {
			if ok {
				group = named[0]
			}
			p.heading(group)
			first = false
		}
		p.flag(flag)
	})
}

// flag writes one flag.
func (p *page) flag(flag *pflag.Flag) {
	value, usage := pflag.UnquoteUsage(flag)
	name := "      --" + flag.Name
	switch {
	case flag.Shorthand != "" && flag.Name == flag.Shorthand:
		name = "  -" + flag.Shorthand
	case flag.Shorthand != "":
		name = "  -" + flag.Shorthand + ", --" + flag.Name
	}
	if plain, ok := plainTypes[value]; ok {
		value = plain
	}
	if value != "" {
		name += " " + value
	}
	p.line(name)
	if standard := standardValue(flag); standard != "" {
		usage += " (default " + standard + ")"
	}
	p.wrap("          ", usage)
}

// plainTypes are what people call the types of values.
var plainTypes = map[string]string{"int": "number", "uint": "number", "float32": "number", "string": "name", "strings": "names"}

// standardValue is the default of a flag, as somebody would type it; empty where the meaning says it, or there is none.
func standardValue(flag *pflag.Flag) string {
	value := flag.DefValue
	switch {
	case strings.Contains(flag.Usage, "default:"):
		return ""
	case flag.Value.Type() == "duration":
		if d, err := time.ParseDuration(value); err == nil && d != 0 {
			return shortDuration(d)
		}
		return ""
	case flag.Value.Type() == "stringSlice" || flag.Value.Type() == "stringArray":
		value = strings.Trim(value, "[]")
	case value == "false" || value == "0":
		return ""
	}
	return value
}

// shortDuration is a duration without the parts that are zero: 5m, not 5m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// flagGroup is the annotation of a flag with which a group of flags begins: the heading of the group.
const flagGroup = "orrery/group"

// beginGroups says which flags begin groups, by their names, and what the groups are called. A name that is no flag is a mistake in
// the program.
func beginGroups(flags *pflag.FlagSet, groups [][2]string) {
	for _, group := range groups {
		if err := flags.SetAnnotation(group[1], flagGroup, []string{group[0]}); err != nil {
			panic(err)
		}
	}
}
