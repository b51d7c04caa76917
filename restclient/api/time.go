package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Time is a moment as Kubernetes writes it: RFC 3339 in UTC with whole seconds, `null` for the zero
// value. Fractions of a second are accepted when reading (MicroTime fields have them).
type Time struct{ time.Time }

// NewTime returns t as an API time.
func NewTime(t time.Time) Time { return Time{Time: t} }

func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.UTC().Format(time.RFC3339) + `"`), nil
}

// UnmarshalJSON reads an RFC 3339 string; null and "" are the zero value.
func (t *Time) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) || bytes.Equal(data, []byte(`""`)) {
		t.Time = time.Time{}
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("time: want an RFC 3339 string, got %.40s", data)
	}
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return err
	}
	t.Time = parsed
	return nil
}

// MicroTime is a moment as Kubernetes writes it where seconds are too coarse: RFC 3339 in UTC with
// exactly six digits after the point, `null` for the zero value. Any number of digits is accepted
// when reading.
type MicroTime struct{ time.Time }

const microTimeLayout = "2006-01-02T15:04:05.000000Z07:00"

// NewMicroTime returns t as an API time, cut to what can be written.
func NewMicroTime(t time.Time) MicroTime { return MicroTime{Time: t.Truncate(time.Microsecond)} }

func (t MicroTime) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.UTC().Format(microTimeLayout) + `"`), nil
}

func (t *MicroTime) UnmarshalJSON(data []byte) error {
	var seconds Time
	if err := seconds.UnmarshalJSON(data); err != nil {
		return err
	}
	t.Time = seconds.Time
	return nil
}
