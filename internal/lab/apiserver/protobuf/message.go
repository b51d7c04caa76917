package protobuf

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

//go:embed messages.txt
var messagesText string

// message describes a type of message: its fields by number.
type message map[protowire.Number]field

// field describes a field of a message.
type field struct {
	// name is the name in JSON, or "-" for an embedded message.
	name string
	// optional fields are omitted if empty, unless they are pointers.
	optional, pointer bool
	form              form
}

// form is the type of a value.
type form struct {
	// name is a basic type, a special type, or the name of a message.
	name string
	// list and mapped report that the field is repeated or a map.
	list, mapped bool
}

// types are all messages and the message of each kind.
type types struct {
	messages map[string]message
	kinds    map[[2]string]string // apiVersion and kind
}

// known returns the types in messages.txt.
var known = sync.OnceValue(func() types { return parseTypes(messagesText) })

// parseTypes parses messages.txt.
func parseTypes(text string) types {
	all := types{messages: map[string]message{}, kinds: map[[2]string]string{}}
	var current message
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "kind":
			all.kinds[[2]string{words[1], words[2]}] = words[3]
		case words[0] == "message":
			current = message{}
			all.messages[words[1]] = current
		default:
			number, err := strconv.Atoi(words[0])
			if err != nil {
				panic("messages.txt: " + line)
			}
			current[protowire.Number(number)] = parseField(words[1], words[2], words[3])
		}
	}
	return all
}

func parseField(name, flags, form string) field {
	f := field{name: name, optional: strings.Contains(flags, "o"), pointer: strings.Contains(flags, "p")}
	if element, ok := strings.CutPrefix(form, "[]"); ok {
		f.form.list, form = true, element
	}
	if element, ok := strings.CutPrefix(form, "map:"); ok {
		f.form.mapped, form = true, element
	}
	f.form.name = form
	return f
}
