package logs

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

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

// ParseFormat reads the value of --log-format. "console" is another name of text, which others use.
func ParseFormat(s string) (Format, error) {
	if s == "console" {
		return Text, nil
	}
	if format := Format(s); slices.Contains([]Format{Text, JSON}, format) {
		return format, nil
	}
	return "", fmt.Errorf("there is no log format %q; use text or json", s)
}

// The verbosities of -v, from which on a line is written.
const (
	verbosityPasses   = 1
	verbosityRequests = 2
	verbosityEvents   = 3
)

// Config says where lines go and which.
type Config struct {
	// Writer gets the lines. Required.
	Writer io.Writer
	// Format defaults to Text.
	Format Format
	// Verbosity is the value of -v; 0 is the quietest.
	Verbosity int
	// Color paints the text format.
	Color bool
}

// Logger writes log lines. The adapters in this package are its methods.
type Logger struct {
	zero      zerolog.Logger
	verbosity int
	passes    *reconciles
	secrets   *secrets
	sink      *sink // nil: lines are written by those who log them
}

// New returns a logger that writes each line where it is logged, however long that takes.
func New(config Config) *Logger {
	config.Writer = zerolog.SyncWriter(config.Writer)
	return newLogger(config)
}

// newLogger takes a writer that many may use at once.
func newLogger(config Config) *Logger {
	hidden := &secrets{}
	return &Logger{zero: zeroLogger(config, hidden), verbosity: config.Verbosity, passes: newReconciles(), secrets: hidden}
}

// Start returns a logger that never holds up whoever logs for more than a moment, whatever becomes of the writer: lines are
// dropped then, and counted. It has a goroutine, which Stop ends.
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

// lastLines is how long Stop waits for a writer that is slow.
const lastLines = time.Second

// Stop has what waits written, for at most a second. The logger must not be used any more; lines that come all the same
// are lost.
func (l *Logger) Stop() {
	if l.sink != nil {
		l.sink.close(lastLines)
	}
}

// Dropped is how many lines were lost since the beginning.
func (l *Logger) Dropped() int64 {
	if l.sink == nil {
		return 0
	}
	return l.sink.dropped()
}

func zeroLogger(config Config, hidden *secrets) zerolog.Logger {
	writer := config.Writer
	if config.Format != JSON {
		writer = zerolog.ConsoleWriter{
			Out:         config.Writer,
			NoColor:     !config.Color,
			TimeFormat:  "15:04:05.000",
			FieldsOrder: fieldsFirst,
			FormatLevel: func(level any) string {
				return paint(fmt.Sprintf("%-5s", strings.ToUpper(fmt.Sprint(level))), fmt.Sprint(level), config.Color)
			},
		}
	}
	return zerolog.New(hider{writer, hidden}).With().Timestamp().Logger()
}

// fieldsFirst is the order in which a line of text tells what it is about; other fields follow by name.
var fieldsFirst = []string{reconcileID, "namespace", "informer", "controller", "queue", "key", "resource", "method", "path", "code", "condition", "reason", "detail", zerolog.ErrorFieldName}

// levelColors are those of a terminal (ECMA-48): what needs a look stands out.
var levelColors = map[string]string{"debug": "90", "info": "32", "warn": "33", "error": "31"}

func paint(text, level string, color bool) string {
	if !color || levelColors[level] == "" {
		return text
	}
	return "\x1b[" + levelColors[level] + "m" + text + "\x1b[0m"
}

// rounded leaves what a person reads in a duration: milliseconds, or microseconds of one that is short.
func rounded(d time.Duration) time.Duration {
	if d < 10*time.Millisecond {
		return d.Round(time.Microsecond)
	}
	return d.Round(time.Millisecond)
}

// Info starts a line about something that changed.
func (l *Logger) Info() *zerolog.Event { return l.zero.Info() }

// Warn starts a line about something that went wrong and is going to be tried again.
func (l *Logger) Warn() *zerolog.Event { return l.zero.Warn() }

// Error starts a line about something that went wrong for good.
func (l *Logger) Error() *zerolog.Event { return l.zero.Error() }

// At starts a line that is written from a verbosity on, for what only some programs log.
func (l *Logger) At(verbosity int) *zerolog.Event { return l.at(verbosity) }

// at starts a line that is written from a verbosity on. The event is nil, and everything done to it nothing,
// below that.
func (l *Logger) at(verbosity int) *zerolog.Event {
	if l.verbosity < verbosity {
		return nil
	}
	return l.zero.WithLevel(zerolog.DebugLevel)
}

func init() {
	zerolog.TimeFieldFormat = time.RFC3339Nano
	zerolog.DurationFieldUnit = time.Second
	// Errors quote what they choke on. Those of restclient are careful, others may not be.
	zerolog.ErrorMarshalFunc = func(err error) any {
		if err == nil {
			return nil // no error, no field
		}
		return restclient.Redact(err.Error())
	}
}
