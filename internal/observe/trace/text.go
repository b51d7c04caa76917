package trace

import (
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"orrery/restclient"
	"orrery/restclient/api"
)

// textSize is how many bytes an event keeps of a text.
const textSize = 200

// errText returns the class and the text of an error, without likely secrets; "" for nil.
func errText(err error) string {
	if err == nil {
		return ""
	}
	text := shown(err.Error())
	if class := classOf(err); class != "" && !strings.HasPrefix(text, class) {
		text = clip(class + ": " + text)
	}
	return text
}

// classOf returns the reason of an API error, or the name of an ordinary one.
func classOf(err error) string {
	if status, ok := errors.AsType[*api.StatusError](err); ok {
		return string(status.Reason())
	}
	switch {
	case errors.Is(err, context.Canceled):
		return "Canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "DeadlineExceeded"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "EOF"
	}
	return ""
}

// shown returns a text of unknown content without likely secrets. It is cut afterwards: half of a
// secret would not be recognised.
func shown(text string) string { return clip(restclient.Redact(text)) }

// clip cuts a text to textSize bytes.
func clip(text string) string { return clipTo(text, textSize) }

// ellipsis ends a text that was cut.
const ellipsis = "…"

// clipTo cuts a text to size bytes, at the end of a character.
func clipTo(text string, size int) string {
	if len(text) <= size {
		return text
	}
	cut := max(0, size-len(ellipsis))
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + ellipsis
}
