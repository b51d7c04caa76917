package logs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/controller/events"
	"orrery/controller/leaderelection"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/observe/logs"
	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// canary is a secret. It must not appear in any line.
const canary = "canary-0123456789-abcdef"

// errQuoting is an error of another package that quotes its input, in each way in which secrets are
// quoted.
var errQuoting = errors.New(strings.Join([]string{
	"header Authorization: Bearer " + canary + " is malformed", "Proxy-Authorization: basic " + canary,
	`parse "https://joe:` + canary + `@server:6443": invalid port`, "GET https://" + canary + "@server/api failed",
	"https://server/cb?access_token=" + canary + "&x=1", "password=" + canary, `{"error":"secret=` + canary + `"}`,
}, "\n"))

// secretive are errors with a secret, and those that bring a hook to all of its lines.
func secretive() []error {
	return []error{nil, io.EOF, controller.ErrCutShort, &nsctl.ResourcesRemainingError{Estimate: 15},
		api.NewStatusError(api.Status{Code: 409, Reason: api.ReasonConflict}),
		api.NewStatusError(api.Status{Code: 404, Reason: api.ReasonNotFound}),
		api.NewStatusError(api.Status{Code: 410, Reason: api.ReasonExpired}),
		api.NewStatusError(api.Status{Code: 504, Reason: api.ReasonTimeout,
			Details: &api.StatusDetails{Causes: []api.StatusCause{{Type: api.CauseResourceVersionTooLarge}}}}),
		errQuoting, fmt.Errorf("wrapped: %w", errQuoting), &reflector.StoreError{Err: errQuoting},
		&restclient.TransportError{Verb: "GET", URL: "https://server", Err: errQuoting},
	}
}

// arguments are values for the parameters of hooks that may hold a secret, each with one wherever
// it must not be shown, and those that bring a hook to all of its lines.
func arguments() []any {
	all := []any{
		true, false, 2 * time.Second, "blue", "gone", []byte("goroutine 1"),
		leaderelection.Term{Identity: "a", Predecessor: "b"}, events.DropForbidden, &api.Event{},
		nsctl.Found{}, nsctl.Found{ToDelete: 1}, namespace("blue"), namespace("blue"),
		[]api.NamespaceCondition{
			{Type: api.NamespaceFinalizersRemaining, Status: api.ConditionTrue, Reason: "R", Message: "m"},
		},
		restclient.Warning{Code: 299, Agent: canary, Text: "w"}, restclient.Warning{Text: "own"},
		&informer.MutationError{Key: "k", Was: canary, Is: canary},
		&informer.ProcessError{Key: "k", Err: errQuoting}, &reflector.StoreError{Err: errQuoting},
		&wait.Panic{Value: errQuoting, Stack: []byte("goroutine 1")},
	}
	for _, err := range secretive() {
		all = append(all, restclient.RequestResult{Err: err}, reflector.WatchInfo{Err: err})
	}
	return all
}

// values are arguments of a type.
func values(t reflect.Type) (found []reflect.Value) {
	switch t {
	case reflect.TypeFor[error]():
		for _, err := range secretive() {
			found = append(found, reflect.ValueOf(&err).Elem()) // nil is an error, too
		}
	case reflect.TypeFor[context.Context]():
		return []reflect.Value{reflect.ValueOf(restclient.WithOrigin(context.Background(), "pass-1"))}
	case reflect.TypeFor[any]():
		return []reflect.Value{reflect.ValueOf("panicked over password=" + canary)}
	}
	for _, one := range arguments() {
		if value := reflect.ValueOf(one); value.Type() == t {
			found = append(found, value)
		}
	}
	if found == nil { // the other types hold no secrets
		found = append(found, reflect.New(t).Elem())
		if t.Kind() == reflect.Int || t.Kind() == reflect.Int64 {
			found = append(found, reflect.ValueOf(1).Convert(t))
		}
	}
	return found
}

// callAll calls a hook with every combination of arguments.
func callAll(hook reflect.Value, args []reflect.Value) {
	if len(args) == hook.Type().NumIn() {
		hook.Call(args)
		return
	}
	for _, value := range values(hook.Type().In(len(args))) {
		callAll(hook, append(args[:len(args):len(args)], value))
	}
}

// Every log statement of this package is reached with secrets in its arguments, and none shows
// them. A new statement that the test does not reach fails it.
func TestNoStatementShowsASecret(t *testing.T) {
	for _, format := range []logs.Format{logs.JSON, logs.Text} {
		var out bytes.Buffer
		l := logs.New(logs.Config{Writer: &out, Format: format, Verbosity: 9})
		for _, set := range []any{
			l.Controller("c"), l.Election(), l.Events(), l.Informer(),
			l.Namespaces(), l.Reflector("i"), l.Requests(),
		} {
			hooks := reflect.ValueOf(set).Elem()
			for i := range 2 * hooks.NumField() { // twice: some log more after other hooks were called
				if hook := hooks.Field(i % hooks.NumField()); !hook.IsNil() {
					callAll(hook, nil)
				}
			}
		}
		l.Panic("*errors.errorString", []byte("goroutine 1"))
		waitLong(t, &out, format)
		text := out.String()
		require.NotEmpty(t, text)
		for line := range strings.Lines(text) {
			require.NotContains(t, line, canary, format)
			if format == logs.JSON { // a line stays whole, whatever is removed from it
				require.True(t, json.Valid([]byte(line)), line)
			}
		}
		for _, s := range statements(t, ".") {
			if s.message == lostMessage {
				continue // it logs a number only; TestAFullDiskLosesLinesAndSaysSoAfterwards reaches it
			}
			assert.Contains(t, text, s.message, "%s: no test reaches this statement", s.file)
		}
	}
}

// waitLong reaches the statements about slow operations, for which time must pass.
func waitLong(t *testing.T, out *bytes.Buffer, format logs.Format) {
	for _, err := range secretive() {
		synctest.Test(t, func(*testing.T) {
			requests := logs.New(logs.Config{Writer: out, Format: format}).Requests()
			info := restclient.RequestInfo{Method: "GET", Path: "/version", Attempt: 1}
			requests.RequestStart(info)
			requests.Retry(info, time.Second, err)
			time.Sleep(time.Minute)
			requests.Finished(info, restclient.RequestResult{})
		})
	}
}

// A known secret is removed from every line, whatever its origin.
func TestKnownSecretsAreHidden(t *testing.T) {
	for _, format := range []logs.Format{logs.JSON, logs.Text} {
		var out bytes.Buffer
		logger := logs.New(logs.Config{Writer: &out, Format: format})
		logger.Hide("")
		logger.Hide("short") // would occur in every other word
		for i := range 40 {
			logger.Hide(fmt.Sprintf("%s-%d", canary, i))
			logger.Hide(canary)
		}
		logger.Info().Str("version", "v1-"+canary).Str("short", "shortage").Msg("something")
		assert.NotContains(t, out.String(), canary, format)
		assert.Contains(t, out.String(), "v1-[redacted]")
		assert.Contains(t, out.String(), "shortage")
	}
}

// A secret in one program may be an ordinary word or number in another: constant text stays, and
// only variable parts are searched.
func TestHidingLeavesTheProgramsOwnWords(t *testing.T) {
	words := []string{"message", "namespace", "finalized", "warning", "took_s", "123456", `quo"ted\canary` + "\n",
		"<&>häh?"}
	reported := lines(t, 0, func(l *logs.Logger) {
		for _, word := range words {
			l.Hide(word)
		}
		line := l.Warn().Str("namespace", "blue").Int("took_s", 123456789)
		for _, word := range words {
			line = line.Str("of "+word, "a "+word+".")
		}
		line.Err(errors.New("it says namespace")).Bytes("stack", []byte("warning \" 123456")).Msg("namespace finalized")
	})
	want := map[string]any{"level": "warn", "message": "namespace finalized", "namespace": "blue",
		"took_s": 123456789.0,
		"error":  "it says [redacted]", "stack": "[redacted] \" [redacted]"}
	for _, word := range words {
		want["of "+word] = "a [redacted]."
	}
	assert.Equal(t, []map[string]any{want}, reported)
}

// moduleRoot is the root of the program's source.
const moduleRoot = "../../.."

// statement is a place where a line is written.
type statement struct{ file, message string }

var (
	logStatement = regexp.MustCompile(`\.\s*(?:Msg|Msgf|MsgFunc)\(`)
	constantText = regexp.MustCompile(`\.\s*Msg\("((?:[^"\\]|\\.|" \+\s*")*)"\)`)
	brokenText   = regexp.MustCompile(`" \+\s*"`) // over two lines
)

// statements returns all log statements below a directory. It reports those whose message is not
// constant: values belong in fields.
func statements(t *testing.T, directory string) (found []statement) {
	t.Helper()
	skipped := []string{"upstream", "testdata", ".git", "bin"}
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && slices.Contains(skipped, entry.Name()) {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		constant := constantText.FindAllStringSubmatch(string(text), -1)
		assert.Len(t, constant, len(logStatement.FindAll(text, -1)), "%s: use Msg with a constant, and fields", path)
		for _, match := range constant {
			found = append(found, statement{file: path, message: brokenText.ReplaceAllString(match[1], "")})
		}
		return err
	})
	require.NoError(t, err)
	return found
}

// Messages are constant, so that they can be searched for and counted, and they follow the house's
// style.
func TestMessagesAreConstant(t *testing.T) {
	all := statements(t, moduleRoot)
	require.Greater(t, len(all), 40, "the search finds them")
	for _, s := range all {
		assert.NotRegexp(t, `^[A-Z][a-z]|[.!]$|%[svdq]|^$`, s.message,
			"%s: begins with a small letter, ends without a full stop, has no place for values", s.file)
	}
}
