package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/restclient/api"
)

// keep reads a text as a decoder does: found in the set, or learned. own is how much of it is the object's own.
func keep(set *api.ManagedFieldsSet, text string) (fields api.ManagedFields, own int) {
	form, part, length := set.Match([]byte(text))
	if form == nil || length != len(text) {
		set.Learn([]byte(text))
		return api.NewManagedFields([]byte(text)), len(text)
	}
	return form.With(string(part)), len(part)
}

func TestSimilarTextsShareWhatTheyHaveInCommon(t *testing.T) {
	var set api.ManagedFieldsSet
	var pods []api.ManagedFields
	var texts []string
	for i := range 100 {
		container := fmt.Sprintf("container-%d", i/50) // the second deployment begins
		text := fieldsOf(container, fmt.Sprintf("2026-01-05T08:00:%02dZ", i%50), fmt.Sprintf("10.0.0.%d", i))
		fields, own := keep(&set, text)
		if i%50 > 4 {
			assert.Less(t, own, 100, "pod %d keeps %d of %d bytes", i, own, len(text))
		}
		pods, texts = append(pods, fields), append(texts, text)
	}
	for i, text := range texts {
		assert.Equal(t, text, pods[i].String())
		assert.True(t, pods[i].Equal(api.NewManagedFields([]byte(text))))
		assert.Equal(t, i == 60, pods[i].Equal(pods[60]))
		written, err := json.Marshal(pods[i])
		require.NoError(t, err)
		assert.JSONEq(t, text, string(written))
	}
}

// The names that a deployment's pods have in common are learned with the deployment: they are not each pod's own.
func TestWhatIsConstantForLongBelongsToTheForm(t *testing.T) {
	var set api.ManagedFieldsSet
	own := 0
	for i := range 40 {
		container := strings.Repeat("x", 60)
		if i >= 20 {
			container = strings.Repeat("y", 60)
		}
		_, own = keep(&set, fieldsOf(container, fmt.Sprintf("2026-01-05T08:00:%02dZ", i), "10.0.0.1"))
	}
	assert.Less(t, own, 60)
}

func TestTextsOfManyFormsAreToldApart(t *testing.T) {
	var set api.ManagedFieldsSet
	for round := range 3 {
		for n := range 100 { // more than the set remembers
			text := `[{"manager":"m","fieldsV1":{` + strings.Repeat(`"f:a":{},`, n) + `"f:b":{}},"time":"` + fmt.Sprint(round) + `"}]`
			fields, _ := keep(&set, text)
			require.Equal(t, text, fields.String())
		}
	}
}

// A text that only begins as a known one does is another one.
func TestMatchTakesWholeTextsOnly(t *testing.T) {
	var set api.ManagedFieldsSet
	text := fieldsOf("a", "t", "i")
	keep(&set, text)
	for n := range text {
		form, _, _ := set.Match([]byte(text[:n]))
		require.Nil(t, form, text[:n])
	}
	form, _, length := set.Match([]byte(text + `,"more":1`))
	require.NotNil(t, form)
	assert.Equal(t, len(text), length)
}

// Whatever comes in, in whatever order: what is kept is what came.
func TestQuickManagedFieldsSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set api.ManagedFieldsSet
		word := rapid.SampledFrom([]string{"", "a", "bb", `\"`, `\\`, `k:{\"ip\":\"1\"}`, "ü", `\u003c`})
		shapes := rapid.SampledFrom([]string{
			`[{"manager":"%s","time":"%s","fieldsV1":{"%s":{}}}]`, `[{"manager":"%s","fieldsV1":{"%s":{"%s":{}}}}]`,
			`[ {"manager": "%s" , "n":[1,true,null,"%s","%s"]} ]`, `["%s%s%s"]`,
		})
		var kept []api.ManagedFields
		var texts []string
		for range rapid.IntRange(1, 60).Draw(t, "texts") {
			text := fmt.Sprintf(shapes.Draw(t, "shape"), word.Draw(t, "1"), word.Draw(t, "2"), word.Draw(t, "3"))
			fields, _ := keep(&set, text)
			kept, texts = append(kept, fields), append(texts, text)
		}
		for i := range kept {
			if kept[i].String() != texts[i] {
				t.Fatalf("%s became %s", texts[i], kept[i])
			}
		}
	})
}

func FuzzManagedFieldsSet(f *testing.F) {
	f.Add(`[{"a":"b"}]`, `[{"a":"c"}]`, `[{"a":"\""}]`)
	f.Add(fieldsOf("a", "b", "c"), fieldsOf("x", "b", `c\\`), fieldsOf("a", "y", "z"))
	f.Add(`["]`, `[`, `"`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var set api.ManagedFieldsSet
		for _, text := range []string{a, b, c, a, b, c} {
			fields, _ := keep(&set, text)
			if fields.String() != text {
				t.Fatalf("%q became %q", text, fields)
			}
		}
	})
}
