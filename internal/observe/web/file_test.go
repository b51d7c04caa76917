package web_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery"
	"orrery/internal/observe/trace/tracetest"
	"orrery/internal/observe/web"
)

// One file has the page, the recording and the functions of its gears, and makes no request. A
// recording that is compressed already is not compressed again: the page would not read that.
func TestPageInOneFile(t *testing.T) {
	functions, err := web.Code{Files: orrery.Source}.Find("fast")
	require.NoError(t, err)
	var compressed bytes.Buffer
	zip := gzip.NewWriter(&compressed)
	_, _ = zip.Write(machine(t))
	require.NoError(t, zip.Close())
	file := filepath.Join(t.TempDir(), "one.html")
	b := openTab(t, 1280, 720)
	for _, recording := range [][]byte{machine(t), compressed.Bytes()} {
		require.NoError(t, os.WriteFile(file, web.HTML(recording, functions), 0o600))
		b.show("file://" + filepath.ToSlash(file))
		assert.Contains(t, b.text("queue"), "team-c")
	}
	b.focus("deltafifo")
	place, all := b.code()
	assert.Contains(t, place, "deltafifo/fast/")
	assert.Contains(t, all, "func (f *DeltaFIFO[T])")
	for _, request := range b.Requests() {
		scheme, _, _ := strings.Cut(request, ":")
		assert.Contains(t, []string{"data", "blob", "file"}, scheme, "%.80s", request)
		if scheme == "file" {
			assert.Equal(t, "file://"+filepath.ToSlash(file), request)
		}
	}
	b.Sound()
}

// head is what the first line of the page says.
func (b *tab) head() string { return value[string](b, `document.querySelector(".head").innerText`) }

// When the process has gone without a word, the page keeps its last state and offers to save it.
func TestPageSurvivesItsProcess(t *testing.T) {
	server, run := live(t)
	b := openTab(t, 1280, 720)
	b.Do(chromedp.Navigate(server.URL() + "&lang=en"))
	run.add("a")
	b.queued("a")
	server.Stop()
	b.notice("The process has gone.")
	b.queued("a")
	saved := value[string](b, `new Promise(resolve => {
		const create = URL.createObjectURL;
		URL.createObjectURL = blob => { blob.text().then(resolve); return create.call(URL, blob); };
		[...document.querySelectorAll(".head button")].find(e => e.innerText === "Save recording").click();
	})`)
	_, last, err := tracetest.Read(strings.NewReader(saved))
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, last.Queues["work"].Waiting())
}
