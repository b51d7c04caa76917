package logs

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"orrery/internal/words"
	"orrery/restclient"
)

// Format is how log lines look.
type Format string

// The two formats.
const (
	// Text is one line for people: time, level, message, fields.
	Text Format = "text"
	// JSON is one object a line for machines.
	JSON Format = "json"
)

// ParseFormat parses the value of --log-format.
func ParseFormat(s string) (Format, error) {
	if format := Format(s); slices.Contains([]Format{Text, JSON}, format) {
		return format, nil
	}
	return "", fmt.Errorf("there is no log format %q; use text or json", s)
}

// The verbosities (-v) from which a line is written.
const (
	verbosityPasses   = 1
	verbosityRequests = 2
)

// Config is what a logger needs. Writer is required.
type Config struct {
	// Writer gets the lines.
	Writer io.Writer
	// Format defaults to Text.
	Format Format
	// Verbosity is the value of -v; 0 logs least.
	Verbosity int
	// Color adds colours to the text format.
	Color bool
}

// Logger writes log lines. The adapters in this package are its methods.
type Logger struct {
	zero      zerolog.Logger
	verbosity int
	passes    *reconciles
	secrets   *secrets
	sink      *sink        // nil: lines are written by the goroutine that logs them
	filled    *atomic.Bool // a store has been filled: the start is over
	// recent lets the same panic or warning pass once a minute. A handler that panics does so for
	// every event, which may be thousands a second; the metric orrery_listener_panics_total counts
	// them. A queue that panics does so without end.
	recent *recent
}

// New returns a logger that writes each line on the goroutine that logs it, however long that
// takes.
func New(config Config) *Logger {
	config.Writer = zerolog.SyncWriter(config.Writer)
	return newLogger(config)
}

// newLogger needs a writer that is safe for concurrent use.
func newLogger(config Config) *Logger {
	hidden := &secrets{}
	return &Logger{
		zero: zeroLogger(config, hidden), verbosity: config.Verbosity, passes: newReconciles(),
		secrets: hidden, filled: &atomic.Bool{}, recent: &recent{},
	}
}

// Start returns a logger that blocks for a moment at most, even if the writer hangs: it then drops
// lines and counts them. It has a goroutine, which Stop ends.
func Start(config Config) *Logger {
	s := newSink(config.Writer, func(lost int64) []byte {
		var line bytes.Buffer
		config.Writer = &line
		zero := zeroLogger(config, &secrets{})
		zero.Warn().Int64("lost", lost).Msg("log lines were lost, the writer failed or was too slow")
		return line.Bytes()
	})
	config.Writer = s
	l := newLogger(config)
	l.sink = s
	return l
}

// lastLines is how long Stop waits for a slow writer.
const lastLines = time.Second

// Stop writes what waits, for at most a second. The logger must not be used afterwards; later lines
// are lost.
func (l *Logger) Stop() {
	if l.sink != nil {
		l.sink.close(lastLines)
	}
}

// Dropped returns how many lines have been lost.
func (l *Logger) Dropped() int64 {
	if l.sink == nil {
		return 0
	}
	return l.sink.dropped()
}

func zeroLogger(config Config, hidden *secrets) zerolog.Logger {
	writer := config.Writer
	if config.Format != JSON {
		writer = zerolog.ConsoleWriter{ // it quotes strings that have control characters, but not those in lists
			FormatFieldValue: func(value any) string { return words.OneLine(fmt.Sprintf("%s", value)) },
			Out:              config.Writer,
			NoColor:          !config.Color,
			TimeFormat:       "15:04:05.000",
			FieldsOrder:      fieldsFirst,
		}
	}
	return zerolog.New(hider{writer, hidden}).With().Timestamp().Logger()
}

// fieldsFirst is the order of the first fields in a line of text; the others follow by name.
var fieldsFirst = []string{
	reconcileID, "namespace", "informer", "controller", "key", "resource", "method", "path", "code",
	"condition", "reason", "detail", zerolog.ErrorFieldName,
}

// rounded rounds a duration for people: to milliseconds, or a short one to microseconds.
func rounded(d time.Duration) time.Duration {
	if d < 10*time.Millisecond {
		return d.Round(time.Microsecond)
	}
	return d.Round(time.Millisecond)
}

// Info starts a line about a change.
func (l *Logger) Info() *zerolog.Event { return l.zero.Info() }

// Warn starts a line about a failure that is retried, or that needs attention.
func (l *Logger) Warn() *zerolog.Event { return l.zero.Warn() }

// Error starts a line about a permanent failure.
func (l *Logger) Error() *zerolog.Event { return l.zero.Error() }

// At starts a line that is written from a verbosity on. Below that it returns nil, on which all
// methods do nothing.
func (l *Logger) At(verbosity int) *zerolog.Event {
	if l.verbosity < verbosity {
		return nil
	}
	return l.zero.WithLevel(zerolog.DebugLevel)
}

func init() {
	zerolog.TimeFieldFormat = time.RFC3339Nano
	zerolog.DurationFieldUnit = time.Second
	for level := range zerolog.FormattedLevels {
		zerolog.FormattedLevels[level] = fmt.Sprintf("%-5s", strings.ToUpper(level.String()))
	}
	// Errors may quote a secret in malformed input.
	zerolog.ErrorMarshalFunc = func(err error) any {
		if err == nil {
			return nil // no error, no field
		}
		return restclient.Redact(err.Error())
	}
}
