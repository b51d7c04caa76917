package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/apiserver/schema"
)

func TestDuplicates(t *testing.T) {
	for document, want := range map[string][]string{
		`{}`: nil,
		`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}`:           nil,
		`{"a":1,"a":2,"a":3}`:                                 {`duplicate field "a"`, `duplicate field "a"`},
		`{"metadata":{"name":"a","name":"b"}}`:                {`duplicate field "metadata.name"`},
		` { "l" : [ 1 , [ { "x" : true , "x" : null } ] ] } `: {`duplicate field "l[1][0].x"`},
		`{"a":{},"\u0061":1}`:                                 {`duplicate field "a"`},
		`{"a":"\"b\":1,\"b\":2"}`:                             nil,
		`[{"a":1,"a":1}]`:                                     {`duplicate field "[0].a"`},
		// Invalid JSON: the part before the error counts.
		`{"a":1,"a":2,}`: {`duplicate field "a"`}, `{"a":1,"a"`: nil, `{"a`: nil, `{a:1}`: nil, `[1,`: nil, `{"a":1 "a":2}`: nil, ``: nil, `"x`: nil, `[1 2]`: nil, `{"a":}`: nil, `[\`: nil,
	} {
		assert.Equal(t, want, schema.Duplicates([]byte(document)), document)
	}
}

func TestDuplicatesInLargeObjects(t *testing.T) {
	var fields []string
	for i := range 1000 {
		fields = append(fields, fmt.Sprintf("%q:%d", fmt.Sprint("k", i), i))
	}
	assert.Empty(t, schema.Duplicates([]byte("{"+strings.Join(fields, ",")+"}")))
	assert.Equal(t, []string{`duplicate field "k7"`, `duplicate field "k999"`}, schema.Duplicates([]byte("{"+strings.Join(fields, ",")+`,"k7":1,"k999":1}`)))
	assert.Len(t, schema.Duplicates([]byte("{"+strings.Repeat(`"a":1,`, 500)+`"a":1}`)), 100)
}

func TestDuplicatesEndsAtDeepNesting(t *testing.T) {
	assert.Empty(t, schema.Duplicates([]byte(strings.Repeat("[", 1_000_000))))
}

// FuzzDuplicates looks for panics and for false alarms.
func FuzzDuplicates(f *testing.F) {
	for _, seed := range []string{`{"a":1,"a":2}`, `{"a":[{"b":"\u00e4"}]}`, `[1,{"x":{}}]`, `{"a`, `\`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		schema.Duplicates(data)
		var value any
		if json.Unmarshal(data, &value) != nil {
			return
		}
		plain, err := json.Marshal(value)
		if err == nil && len(schema.Duplicates(plain)) > 0 {
			t.Errorf("%s has no duplicates", plain)
		}
	})
}
