package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/bench"
	"orrery/internal/words"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
	"orrery/wait"
)

// inBubble is a scene on a server in memory behind pipes.
func inBubble(t *testing.T, name string, config Config) *Stage {
	scene, err := Named(name)
	require.NoError(t, err)
	s := newStage(config, scene)
	require.NoError(t, s.newServer())
	t.Cleanup(func() { stopServer(s.server) })
	s.Server = restclienttest.NewTLSServer(t, s.server.Handler(), restclienttest.NewAuthority(t), nil).Config()
	return s
}

// screenSize is the size of a small terminal.
func screenSize() Size { return Size{Width: 80, Height: 24} }

func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := inBubble(t, "delete", Config{Out: &out, Objects: 40})
		require.NoError(t, s.run(t.Context()))
		text := out.String()
		from := 0
		for _, part := range []string{
			"lab demo, scene delete", s.scene.Words().Happens.English[:40], "kubectl create namespace shop",
			"kubectl delete namespace shop",
			"through /finalize", "What was learnt", "Read on", "nsctl/deleter.go",
		} {
			at := strings.Index(text[from:], part)
			require.GreaterOrEqual(t, at, 0, "%q is missing after %d in:\n%s", part, from, text)
			from += at
		}
		for _, line := range strings.Split(text, "\n") {
			assert.LessOrEqual(t, len([]rune(line)), PlainWidth)
		}
		assert.Equal(t, 1, strings.Count(text, "kubectl delete namespace shop"), "each beat is printed once")
	})
}

// Events, narration and summary are told in the language that was chosen.
func TestChinese(t *testing.T) {
	for _, name := range []string{"delete", "slow-consumer"} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			s := inBubble(t, name, Config{Out: &out, Lang: words.Chinese})
			require.NoError(t, s.run(t.Context()))
			for _, beat := range s.Teller.State().Beats {
				if beat.Who != You { // commands
					assert.Regexp(t, `\p{Han}`, beat.Text)
				}
			}
			assert.Contains(t, out.String(), s.scene.Words().Learnt[0].Chinese[:12])
			for line := range strings.Lines(out.String()) {
				assert.LessOrEqual(t, Columns(strings.TrimSuffix(line, "\n")), PlainWidth)
			}
		})
	}
}

// A terminal shows pictures first, then the whole story. A scene that is stopped in the middle ends
// soon.
func TestDisplays(t *testing.T) {
	for _, name := range []string{"finalizer", "stall"} {
		for display, size := range map[string]func() Size{"lines": nil, "picture": screenSize} {
			for _, stopped := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/stopped=%t", name, display, stopped), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var out bytes.Buffer
						s := inBubble(t, name, Config{Out: &out, Size: size})
						kept := false
						s.Keep = func(context.Context, *apiserver.Server) error {
							kept = true
							return nil
						}
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						if stopped {
							time.AfterFunc(3*time.Second, cancel)
						}
						began := time.Now()
						require.NoError(t, s.run(ctx))
						assert.Equal(t, !stopped, kept)
						text := out.String()
						if size != nil {
							require.Equal(t, 1, strings.Count(text, "\x1b[?1049l"), "the terminal is restored")
							_, text, _ = strings.Cut(text, "\x1b[?1049l")
						}
						assert.NotContains(t, text, "\x1b")
						assert.Equal(t, name == "finalizer", strings.Contains(text, "kubectl create namespace shop"))
						assert.Equal(t, stopped, strings.Contains(text, "Stopped in the middle of the scene."))
						assert.Equal(t, !stopped, strings.Contains(text, "What was learnt"))
						assert.Equal(t, name == "stall" && !stopped, strings.Contains(text, "What was measured"))
						if stopped {
							assert.Less(t, time.Since(began), 6*time.Second, "it ends soon")
						}
					})
				})
			}
		}
	}
}

// A scene with gates has no time limit: it goes on when the gates open.
func TestGatesHoldAScene(t *testing.T) {
	for _, id := range GateIDs() {
		t.Run(string(id), func(t *testing.T) {
			waits := func(ctx context.Context, s *Stage) {
				s.Gates.Close(id, Filter{})
				for len(s.Recorder.State().Lab.Held[string(id)]) == 0 && ctx.Err() == nil {
					time.Sleep(time.Millisecond)
				}
				time.Sleep(time.Hour)
				s.Gates.Release()
			}
			run{reader: waits}.play(t, "stuck", func(t *testing.T, s State) {
				assert.Greater(t, s.Elapsed, time.Hour)
			})
		})
	}
}

// If the server refuses the script, the scene ends with a message, and the story shows its
// progress.
func TestBrokenOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := inBubble(t, "delete", Config{Out: &out})
		_, err := s.server.Faults().Add("forbid:verb=create,resource=secrets")
		require.NoError(t, err)
		err = s.run(t.Context())
		assert.ErrorContains(t, err, "the scene failed: creating Secret password-0: secrets is forbidden")
		assert.Contains(t, out.String(), "kubectl create namespace shop")
	})
}

// A panic in a gear is printed after the terminal is restored.
func TestPanicGivesTheTerminalBack(t *testing.T) {
	var out bytes.Buffer
	s := newStage(Config{Out: &out, Size: screenSize}, deletion)
	defer s.Close()
	restoreLog := wait.PanicHandlers.Replace()
	defer restoreLog()
	stop := s.draw(NewPrinter(io.Discard, 80, false))
	assert.Panics(t, func() {
		defer wait.HandleCrash()
		panic("a gear breaks")
	})
	assert.True(t, strings.HasSuffix(out.String(), "\x1b[?1049l"))
	stop()
	assert.Equal(t, 1, strings.Count(out.String(), "\x1b[?1049l"))
}

// writerFunc is a writer that is called.
type writerFunc func(p []byte)

func (w writerFunc) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// The whole demo over sockets, stopped by Ctrl-C once the namespace exists. Nothing is left
// behind.
func TestRunOverSockets(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(t.Context())
	text := ""
	out := writerFunc(func(p []byte) {
		if text += string(p); strings.Contains(text, "kubectl create namespace shop") {
			cancel()
		}
	})
	require.NoError(t, Run(ctx, Config{Out: out, Objects: 20}))
	assert.Contains(t, text, "listens on https://127.0.0.1:")
	assert.Contains(t, text, "Stopped in the middle of the scene.")
}

// A scene with another outcome than it is there to show says so in its own words.
func TestAnotherOutcomeOfAScene(t *testing.T) {
	const want = "the scene did not show what it should: passes: got 3, want 2"
	prove := func(*Stage, *State) error { return bench.Prove("passes", 2, 3) }
	scene := Scene{Options: Options{Bare: true, Alone: true}, play: script(conclude(prove))}
	on := newStage(Config{}, scene)
	defer on.Close()
	assert.EqualError(t, on.play(t.Context()), want)
	assert.NotContains(t, on.State().Now, "the end", "the scene has no end that reads like success")
}

func TestClientsOfASceneEndWithTheStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := inBubble(t, "errors", Config{})
		var conns []net.Conn
		dial := on.Server.Dial
		on.Server.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			conns = append(conns, conn)
			return conn, err
		}
		require.NoError(t, on.open(t.Context()))
		client, err := on.NewClient(nil)
		require.NoError(t, err)
		_, err = on.ConfigMaps(client).List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		require.Len(t, conns, 1)
		on.Close()
		synctest.Wait()
		_, err = conns[0].Write([]byte("more"))
		assert.Error(t, err, "the connection is closed")
	})
}
