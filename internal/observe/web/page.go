package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"orrery/internal/observe/trace"
)

//go:embed page
var embedded embed.FS

// pageFS returns the files of the page.
func pageFS() fs.FS {
	files, err := fs.Sub(embedded, "page")
	if err != nil {
		panic(err) // the directory is embedded above
	}
	return files
}

// moduleNames returns the files that modules import, under the name "orrery/FILE".
func moduleNames() []string {
	names, err := fs.Glob(pageFS(), "*.js*")
	if err != nil {
		panic(err) // the pattern is constant
	}
	return append(names, "vendor/htm-preact.js")
}

// importMap returns the text of the page's import map; address returns where a file is found.
func importMap(address func(name string) string) string {
	imports := map[string]string{}
	for _, name := range moduleNames() {
		imports["orrery/"+path.Base(name)] = address(name)
	}
	return string(encoded(map[string]any{"imports": imports}))
}

// encoded returns strings and numbers as JSON, without a "<".
func encoded(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

// sourceHash returns how a content security policy names an inline script or style.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Marks of index.html that a served page and a file fill in differently.
const (
	policyMark    = "<!-- policy -->"
	styleMark     = `<link rel="stylesheet" href="style.css">`
	importMapMark = "<!-- import map -->"
	recordingMark = "<!-- recording -->"
)

func readPage(name string) string {
	text, err := fs.ReadFile(pageFS(), name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// Sentences returns the table of what is said of events: rows in JSON, in both languages.
func Sentences() []byte { return []byte(readPage("sentences.json")) }

// servedIndex returns index.html for a server, and its content security policy: everything comes
// from the server itself.
func servedIndex() (html, policy string) {
	imports := importMap(func(name string) string { return "./" + name })
	html = strings.NewReplacer(
		policyMark, "", recordingMark, "",
		importMapMark, `<script type="importmap">`+imports+`</script>`,
	).Replace(readPage("index.html"))
	return html, "default-src 'none'; script-src 'self' " + sourceHash(imports) +
		"; style-src 'self'; connect-src 'self'; worker-src 'self'; img-src 'self' data:" +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// HTML returns the page with a recording as one file, which a browser opens without a server and
// without any request. The recording is the content of a recording's file, compressed or not; in
// the page it is compressed. code has the functions of the recording's gears.
func HTML(recording []byte, code map[string]Place) []byte {
	data := func(mediaType, text string) string {
		return "data:" + mediaType + ";base64," + base64.StdEncoding.EncodeToString([]byte(text))
	}
	imports := importMap(func(name string) string {
		if path.Ext(name) == ".json" {
			return data("application/json", readPage(name))
		}
		return data("text/javascript", readPage(name))
	})
	style := readPage("style.css")
	policy := fmt.Sprintf("default-src 'none'; script-src %s %s data: blob:; style-src %s; connect-src data:; "+
		"worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'",
		sourceHash(imports), sourceHash(startScript), sourceHash(style))
	html := strings.NewReplacer(
		policyMark, `<meta http-equiv="Content-Security-Policy" content="`+policy+`">`,
		styleMark, "<style>"+style+"</style>",
		importMapMark, `<script type="importmap">`+imports+`</script>`,
		servedStart, `<script type="module">`+startScript+`</script>`,
	).Replace(readPage("index.html"))
	before, after, _ := strings.Cut(html, recordingMark)
	var page bytes.Buffer
	page.WriteString(before + `<script type="text/plain" id="recording">`)
	encoder := base64.NewEncoder(base64.StdEncoding, &page)
	if trace.IsCompressed(recording) {
		_, _ = encoder.Write(recording) // a buffer takes everything
	} else {
		zip := gzip.NewWriter(encoder)
		_, _ = zip.Write(recording)
		_ = zip.Close()
	}
	_ = encoder.Close()
	page.WriteString(`</script><script type="application/json" id="code">`)
	page.Write(encoded(code))
	page.WriteString("</script>" + after)
	return page.Bytes()
}

// How the page starts: a file cannot import a relative path.
const (
	servedStart = `<script type="module" src="main.js"></script>`
	startScript = `import "orrery/main.js";`
)
