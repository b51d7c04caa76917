package manifest

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"orrery/internal/words"
)

// Lang is a language, named as in LANG with a hyphen.
type Lang string

const (
	English Lang = "en"
	Chinese Lang = "zh-CN"
)

// Langs are all languages.
var Langs = []Lang{English, Chinese}

// FromLocale returns the language of the environment's locale: Chinese if that begins with zh.
func FromLocale() Lang {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := os.Getenv(name); value != "" {
			if strings.HasPrefix(value, "zh") {
				return Chinese
			}
			return English
		}
	}
	return English
}

// Parse returns the language with that name. "" means the language of the locale.
func Parse(name string) (Lang, error) {
	if name == "" {
		return FromLocale(), nil
	}
	if !slices.Contains(Langs, Lang(name)) {
		return "", fmt.Errorf("there is no language %q; use en or zh-CN", name)
	}
	return Lang(name), nil
}

// Text is a text in both languages.
type Text struct {
	English string `yaml:"en"`
	Chinese string `yaml:"zh-CN"`
}

// In returns the text in that language.
func (t Text) In(lang Lang) string {
	if lang == Chinese {
		return strings.TrimSpace(t.Chinese)
	}
	return strings.TrimSpace(t.English)
}

// Complete reports whether the text has both languages.
func (t Text) Complete() bool { return t.In(English) != "" && t.In(Chinese) != "" }

//go:embed messages.yaml
var messageFile []byte

// Messages returns all messages by name.
var Messages = sync.OnceValue(func() map[string]Text {
	var all map[string]Text
	if err := yaml.Unmarshal(messageFile, &all); err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	return all
})

// Message returns a message in both languages. The name must be one of [Messages].
func Message(name string) Text {
	text, ok := Messages()[name]
	if !ok {
		panic("there is no message " + name)
	}
	return text
}

// Say returns a message with its arguments. The name must be one of [Messages].
func (lang Lang) Say(name string, arguments ...any) string {
	text := Message(name)
	form := text.English
	if lang == Chinese {
		form = text.Chinese
	}
	return fmt.Sprintf(form, arguments...)
}

// Wrapped returns the text in that language, wrapped between words. Chinese is left to the
// terminal, which may break it anywhere.
func (t Text) Wrapped(lang Lang, width int) string {
	text := t.In(lang)
	if lang == Chinese {
		return text
	}
	var wrapped []string
	for line := range strings.SplitSeq(text, "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		for _, part := range words.Wrap(line, width-len(indent)) {
			wrapped = append(wrapped, indent+part)
		}
	}
	return strings.Join(wrapped, "\n")
}
