package gate

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Condition is a condition on items, such as
//
//	key==demo && gate==G2 || deltas~D
//
// The names are key, gear, gate, event, verb, resource, handler, deltas and failures, the operators
// ==, !=, ~ (contains), < and >. && binds stronger than ||. A key may be named without its
// namespace. The zero Condition holds for every item. The page's filters have the same form.
type Condition struct {
	text         string
	alternatives [][]comparison
}

type comparison struct{ name, operator, value string }

// fieldNames are the names in conditions.
var fieldNames = []string{"key", "gear", "event", "verb", "resource", "handler", "deltas", "failures", "gate"}

// gearOf has the packages in which items wait.
var gearOf = map[ID]string{
	G2: "deltafifo", G4: "informer", G5: "queue", G6: "restclient", G7: "queue",
}

// fields returns what conditions can name, "" for what the item does not have.
func (i Item) fields() map[string]string {
	failures := ""
	if i.Gate == G5 || i.Gate == G7 {
		failures = strconv.Itoa(i.Failures)
	}
	return map[string]string{
		"key": i.Key, "gear": gearOf[i.Gate], "gate": string(i.Gate), "event": i.Event, "verb": i.Verb,
		"resource": i.Resource, "handler": i.Handler, "deltas": i.Deltas, "failures": failures,
	}
}

var comparisonForm = regexp.MustCompile(`^\s*(\w+)\s*(==|!=|~|<|>)\s*("[^"]*"|[^\s&|]+)\s*(&&|\|\||$)`)

// ParseCondition reads a condition; "" is the zero Condition. The error is a sentence for a reader.
func ParseCondition(text string) (Condition, error) {
	c := Condition{text: strings.TrimSpace(text)}
	if c.text == "" {
		return c, nil
	}
	c.alternatives = [][]comparison{nil}
	for rest := c.text; rest != ""; {
		match := comparisonForm.FindStringSubmatch(rest)
		if match == nil {
			return Condition{}, fmt.Errorf("after %q: NAME == VALUE is expected", strings.TrimSuffix(c.text, rest))
		}
		name, operator, value, joint := match[1], match[2], match[3], match[4]
		if !slices.Contains(fieldNames, name) {
			return Condition{}, fmt.Errorf("%q is not one of %s", name, strings.Join(fieldNames, ", "))
		}
		rest = rest[len(match[0]):]
		if joint != "" && strings.TrimSpace(rest) == "" {
			return Condition{}, fmt.Errorf("nothing follows %s", joint)
		}
		last := len(c.alternatives) - 1
		c.alternatives[last] = append(c.alternatives[last], comparison{name, operator, strings.Trim(value, `"`)})
		if joint == "||" {
			c.alternatives = append(c.alternatives, nil)
		}
	}
	return c, nil
}

// String returns the text of the condition.
func (c Condition) String() string { return c.text }

// Holds reports whether an item meets the condition.
func (c Condition) Holds(item Item) bool {
	return len(c.alternatives) == 0 || slices.ContainsFunc(c.alternatives, func(all []comparison) bool {
		return !slices.ContainsFunc(all, func(one comparison) bool { return !one.holds(item) })
	})
}

func (c comparison) holds(item Item) bool {
	found := item.fields()[c.name]
	equal := found == c.value || c.name == "key" && strings.HasSuffix(found, "/"+c.value)
	switch c.operator {
	case "==":
		return equal
	case "!=":
		return !equal
	case "~":
		return strings.Contains(found, c.value)
	}
	x, noX := strconv.ParseFloat(found, 64)
	y, noY := strconv.ParseFloat(c.value, 64)
	return cmp.Or(noX, noY) == nil && (c.operator == "<" && x < y || c.operator == ">" && x > y)
}
