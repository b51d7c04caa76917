package api

import "time"

// MicroTime is a moment as Kubernetes writes it where seconds are too coarse: RFC 3339 in UTC with exactly six digits
// after the point, `null` for the zero value. Any number of digits is accepted when reading.
type MicroTime struct {
	time.Time
}

const microTimeLayout = "2006-01-02T15:04:05.000000Z07:00"

// NewMicroTime returns t as an API time, cut to what can be written.
func NewMicroTime(t time.Time) MicroTime { return MicroTime{Time: t.Truncate(time.Microsecond)} }

// MarshalJSON writes the moment in UTC with microseconds, or null for the zero value.
func (t MicroTime) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.UTC().Format(microTimeLayout) + `"`), nil
}

// UnmarshalJSON reads an RFC 3339 string; null and "" are the zero value.
func (t *MicroTime) UnmarshalJSON(data []byte) error {
	var seconds Time
	if err := seconds.UnmarshalJSON(data); err != nil {
		return err
	}
	t.Time = seconds.Time
	return nil
}
