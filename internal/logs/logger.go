package logs

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
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

// ParseFormat reads the value of --log-format.
func ParseFormat(s string) (Format, error) {
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
}

// New returns a logger.
func New(config Config) *Logger {
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
	return &Logger{
		zero:      zerolog.New(zerolog.SyncWriter(writer)).With().Timestamp().Logger(),
		verbosity: config.Verbosity,
		passes:    newReconciles(),
	}
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
}
