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

// clip cuts a text to textSize bytes, at the end of a character.
func clip(text string) string {
	const ellipsis = "…"
	if len(text) <= textSize {
		return text
	}
	cut := textSize - len(ellipsis)
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + ellipsis
}
