package resources

import (
	"encoding/json"
	"fmt"
	"time"

	"orrery/restclient/api"
)

// customColumns are the name and what the definition adds; the age if it adds nothing.
func customColumns(version tree) ([]Column, error) {
	columns := []Column{nameColumn()}
	added := items(version, "additionalPrinterColumns")
	if len(added) == 0 {
		added = []tree{{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp", "description": "How long ago the object was created."}}
	}
	for _, column := range added {
		path, err := parseJSONPath(text(column, "jsonPath"))
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", text(column, "name"), err)
		}
		kind := text(column, "type")
		columns = append(columns, Column{
			Name: text(column, "name"), Type: kind, Format: text(column, "format"),
			Description: or(text(column, "description"), "The value at "+text(column, "jsonPath")+"."), Priority: int32(whole(column, "priority")),
			Cell: func(o *api.Unstructured, now time.Time) any { return customCell(kind, path.find(o.Object), now) },
		})
	}
	return columns, nil
}

// customCell makes the cell of the first of the values that a path has found: nil for none, and for one that is not of the
// column's type.
func customCell(kind string, found []any, now time.Time) any {
	if len(found) == 0 {
		return nil
	}
	if kind == "string" {
		return printed(found[0])
	}
	return typedCell(kind, found[0], now)
}

func typedCell(kind string, value any, now time.Time) any {
	switch v := value.(type) {
	case int64:
		switch kind {
		case "integer":
			return v
		case "number":
			return float64(v)
		}
	case float64:
		switch kind {
		case "integer":
			return int64(v)
		case "number":
			return v
		}
	case bool:
		if kind == "boolean" {
			return v
		}
	case string:
		if kind == "date" {
			return dateCell(v, now)
		}
	}
	return nil
}

func dateCell(moment string, now time.Time) any {
	if moment == "" {
		return unknownText
	}
	t, err := time.Parse(time.RFC3339, moment)
	if err != nil {
		return "<invalid>"
	}
	return humanDuration(now.Sub(t))
}

// printed writes a value as text: plain values as they are, others as JSON.
func printed(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any, []any:
		data, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(data)
	}
	return fmt.Sprint(value)
}
