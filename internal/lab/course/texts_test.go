package course_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/course"
	"orrery/internal/words"
)

var (
	verbForm = regexp.MustCompile(`%(\[[0-9]+\])?[-0-9.]*[a-z]`)
	useForm  = regexp.MustCompile(`(?:\bSay\([\w.]+, |\b(?:Message|print|say|refuse|fail)\()"([a-z-]+)"`)
)

// Both languages of a message take the same arguments in the same order.
func TestMessagesTakeTheSameArguments(t *testing.T) {
	require.NotEmpty(t, course.Messages())
	for name, text := range course.Messages() {
		assert.True(t, text.Complete(), "%s lacks a language", name)
		assert.Equal(t, verbForm.FindAllString(text.English, -1), verbForm.FindAllString(text.Chinese, -1), name)
	}
}

// Every message that the code names exists, and every message is named.
func TestMessagesAreUsed(t *testing.T) {
	used := map[string]bool{}
	read := func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range useForm.FindAllStringSubmatch(string(text), -1) {
			used[found[1]] = true
		}
		return err
	}
	for _, room := range []string{".", "../../../cmd/lab"} {
		require.NoError(t, filepath.WalkDir(room, read))
	}
	all := course.Messages()
	for name := range used {
		if strings.HasSuffix(name, "-") { // the rest is a kind or a state
			assert.True(t, slices.ContainsFunc(slices.Collect(maps.Keys(all)),
				func(key string) bool { return strings.HasPrefix(key, name) }), name)
			continue
		}
		assert.Contains(t, all, name)
	}
	for name := range all {
		prefix, _, _ := strings.Cut(name, "-")
		assert.True(t, used[name] || used[prefix+"-"], "no code says %s", name)
	}
}

func TestLanguages(t *testing.T) {
	for value, want := range map[string]words.Lang{"": words.English, "C": words.English, "de_DE.UTF-8": words.English,
		"zh_CN.UTF-8": words.Chinese, "zh": words.Chinese} {
		t.Setenv("LC_ALL", "")
		t.Setenv("LC_MESSAGES", "")
		t.Setenv("LANG", value)
		assert.Equal(t, want, words.FromLocale(), value)
	}
	lang, err := words.ParseLang("zh-CN")
	require.NoError(t, err)
	assert.Equal(t, "全部通过。接下来：lab run 08，然后 lab diff 08", course.Say(lang, "all-passed", "08"))
	_, err = words.ParseLang("fr")
	assert.EqualError(t, err, `there is no language "fr"; use en or zh-CN`)
}

func TestParagraphsAreWrappedBetweenWords(t *testing.T) {
	text := words.Text{English: strings.Repeat("word ", 20) + "\n    " + strings.Repeat("code ", 18),
		Chinese: strings.Repeat("字", 100)}
	assert.Equal(t, strings.TrimSpace(strings.Repeat("word ", 16))+"\nword word word word\n    "+
		strings.TrimSpace(strings.Repeat("code ", 15))+"\n    code code code", text.Wrapped(words.English, 80))
	assert.Equal(t, text.Chinese, text.Wrapped(words.Chinese, 80))
}
