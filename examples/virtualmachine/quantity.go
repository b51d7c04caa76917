package virtualmachine

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Quantity is an amount of a resource, written as Kubernetes writes it: 2, "500m", "4G", "1.5Gi". It is kept as it was written:
// a client that wrote "2" where a user wrote 2 would change the spec.
type Quantity struct {
	Text   string
	Number bool // a JSON number, not a string
}

// UnmarshalJSON reads a number or a string.
func (q *Quantity) UnmarshalJSON(data []byte) error {
	q.Number = len(data) > 0 && data[0] != '"'
	if q.Number {
		q.Text = string(data)
		return nil
	}
	return json.Unmarshal(data, &q.Text)
}

// MarshalJSON writes what UnmarshalJSON has read.
func (q Quantity) MarshalJSON() ([]byte, error) {
	if q.Number {
		return []byte(q.Text), nil
	}
	return json.Marshal(q.Text)
}

// suffixes are the units, the longer ones first.
var suffixes = []struct {
	name string
	unit float64
}{
	{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40}, {"Pi", 1 << 50}, {"Ei", 1 << 60},
	{"n", 1e-9}, {"u", 1e-6}, {"m", 1e-3}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {"E", 1e18},
}

// In returns the amount in whole units of the given size, rounded: In(1) for bytes, In(0.001) for thousandths of a CPU. The amount
// must be positive and fit.
func (q Quantity) In(unit float64) (int64, error) {
	digits, scale := q.Text, 1.0
	for _, suffix := range suffixes {
		if before, ok := strings.CutSuffix(q.Text, suffix.name); ok {
			digits, scale = before, suffix.unit
			break
		}
	}
	amount, err := strconv.ParseFloat(digits, 64)
	if err != nil || strings.Trim(digits, "0123456789.+-eE") != "" {
		return 0, fmt.Errorf("%q is not a quantity such as 2, 500m or 4Gi", q.Text)
	}
	amount = math.Round(amount * scale / unit)
	if amount < 1 || amount >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is out of range", q.Text)
	}
	return int64(amount), nil
}
