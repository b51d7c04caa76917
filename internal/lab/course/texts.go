package course

import (
	_ "embed"
	"fmt"
	"sync"

	"go.yaml.in/yaml/v3"

	"orrery/internal/words"
)

//go:embed messages.yaml
var messageFile []byte

// Messages returns all messages by name.
var Messages = sync.OnceValue(func() map[string]words.Text {
	var all map[string]words.Text
	if err := yaml.Unmarshal(messageFile, &all); err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	return all
})

// Message returns a message in both languages. The name must be one of [Messages].
func Message(name string) words.Text {
	text, ok := Messages()[name]
	if !ok {
		panic("there is no message " + name)
	}
	return text
}

// Say returns a message with its arguments. The name must be one of [Messages].
func Say(lang words.Lang, name string, arguments ...any) string {
	text := Message(name)
	form := text.English
	if lang == words.Chinese {
		form = text.Chinese
	}
	return fmt.Sprintf(form, arguments...)
}
