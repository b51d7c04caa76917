package resources

import (
	"strconv"
	"time"

	"orrery/restclient/api"
)

// unknown and none are what kubectl's readers know as "not there".
const (
	unknownText = "<unknown>"
	noneText    = "<none>"
	unsetText   = "<unset>"
)

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// humanDuration writes a duration as kubectl's readers know it: with the two largest units at most, and the second one
// only while it says something.
func humanDuration(d time.Duration) string {
	switch {
	case d <= -2*time.Second:
		return "<invalid>"
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return count(d, time.Second) + "s"
	case d < 10*time.Minute:
		return parts(d, time.Minute, "m", time.Second, "s")
	case d < 3*time.Hour:
		return count(d, time.Minute) + "m"
	case d < 8*time.Hour:
		return parts(d, time.Hour, "h", time.Minute, "m")
	case d < 2*day:
		return count(d, time.Hour) + "h"
	case d < 8*day:
		return parts(d, day, "d", time.Hour, "h")
	case d < 2*year:
		return count(d, day) + "d"
	case d < 8*year:
		return parts(d, year, "y", day, "d")
	}
	return count(d, year) + "y"
}

func count(d, unit time.Duration) string { return strconv.FormatInt(int64(d/unit), 10) }

// parts writes two units, the second one only if there is something of it.
func parts(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	text := count(d, large) + largeName
	if rest := d % large / small; rest > 0 {
		text += strconv.FormatInt(int64(rest), 10) + smallName
	}
	return text
}

// ageOf is how long ago a moment in a document was.
func ageOf(moment string, now time.Time) string {
	t, err := time.Parse(time.RFC3339, moment)
	if err != nil || t.IsZero() {
		return unknownText
	}
	return humanDuration(now.Sub(t))
}

func age(o *api.Unstructured, now time.Time) any {
	return ageOf(o.NestedString("metadata", "creationTimestamp"), now)
}
