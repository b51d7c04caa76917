package words

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Lang is a language, named as in LANG with a hyphen.
type Lang string

// The languages.
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

// ParseLang returns the language with that name. "" means the language of the locale.
func ParseLang(name string) (Lang, error) {
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
	English string `yaml:"en" json:"en"`
	Chinese string `yaml:"zh-CN" json:"zh-CN"`
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
		for _, part := range Wrap(line, width-len(indent)) {
			wrapped = append(wrapped, indent+part)
		}
	}
	return strings.Join(wrapped, "\n")
}
