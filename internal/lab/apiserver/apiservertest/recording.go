package apiservertest

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed testdata
var testdata embed.FS

// recordingSuffix is the suffix of the recording of theme.txt.
const recordingSuffix = ".recorded"

// Recording has kube-apiserver's answers to the requests of a script, by title.
type Recording struct {
	Answers map[string]*Answer
}

// Scripts returns all scripts, ordered by theme.
func Scripts() ([]*Script, error) {
	names, err := fs.Glob(testdata, "testdata/*.txt")
	if err != nil {
		return nil, err
	}
	var scripts []*Script
	for _, name := range names {
		text, err := testdata.ReadFile(name)
		if err != nil {
			return nil, err
		}
		script, err := ParseScript(strings.TrimSuffix(path.Base(name), ".txt"), string(text))
		if err != nil {
			return nil, err
		}
		scripts = append(scripts, script)
	}
	return scripts, nil
}

func RecordingOf(script *Script) (*Recording, error) {
	text, err := testdata.ReadFile("testdata/" + RecordingFile(script))
	if err != nil {
		return nil, err
	}
	return ParseRecording(script, string(text))
}

// RecordingFile returns the name of a script's recording.
func RecordingFile(script *Script) string { return script.Theme + recordingSuffix }

// FormatRecording formats the answers in the order of the cases.
func FormatRecording(script *Script, answers []*Answer) string {
	var text strings.Builder
	fmt.Fprintf(&text, "# What kube-apiserver answers to %s.txt. Made by \"make -C upstream record\"; do not edit.\n", script.Theme)
	for i, answer := range answers {
		fmt.Fprintf(&text, "\n%s%s\n%s", marker, script.Cases[i].Title, answer)
	}
	return text.String()
}

// ParseRecording parses the output of [FormatRecording]. Cases and answers must correspond.
func ParseRecording(script *Script, text string) (*Recording, error) {
	_, sections, err := sectionsOf(text)
	if err != nil {
		return nil, fmt.Errorf("recording of %s: %w", script.Theme, err)
	}
	recording := &Recording{Answers: map[string]*Answer{}}
	for _, section := range sections {
		answer, err := parseAnswer(section.lines)
		if err != nil {
			return nil, fmt.Errorf("recording of %s: %q: %w", script.Theme, section.title, err)
		}
		recording.Answers[section.title] = answer
	}
	for _, c := range script.Cases {
		if recording.Answers[c.Title] == nil {
			return nil, fmt.Errorf("recording of %s: %q was not recorded; run make -C upstream record", script.Theme, c.Title)
		}
	}
	if len(recording.Answers) != len(script.Cases) {
		return nil, fmt.Errorf("recording of %s: has %d answers for %d cases; run make -C upstream record", script.Theme, len(recording.Answers), len(script.Cases))
	}
	return recording, nil
}
