package servecmd

import (
	"fmt"
	"time"

	"orrery/internal/lab/apiserver"
	"orrery/internal/observe/logs"
	"orrery/restclient"
)

// served returns hooks that log the requests to the server: with -v those that were answered, with -v2 also their beginning.
func served(l *logs.Logger) *apiserver.Trace {
	return &apiserver.Trace{
		RequestStarted: func(info apiserver.RequestInfo) {
			l.At(2).Str("method", info.Method).Str("path", restclient.Redact(info.URI)).
				Str("verb", info.Verb).Str("user", info.User).Str("client", info.UserAgent).Msg("request begins")
		},
		RequestDone: func(info apiserver.RequestInfo, result apiserver.RequestResult) {
			l.At(1).Str("method", info.Method).Str("path", restclient.Redact(info.URI)).Int("code", result.Code).
				Str("verb", info.Verb).Str("user", info.User).Str("client", info.UserAgent).
				Int64("bytes", result.Bytes).Dur("took_s", result.Duration.Round(time.Microsecond)).Msg("request served")
		},
		Panicked: func(info apiserver.RequestInfo, value any, stack []byte) {
			l.Error().Str("method", info.Method).Str("path", restclient.Redact(info.URI)).Str("panic", restclient.Redact(fmt.Sprint(value))).Bytes("stack", stack).
				Msg("a handler panicked; the server goes on")
		},
	}
}
