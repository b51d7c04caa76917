package patch

import (
	"errors"
	"fmt"

	"orrery/internal/lab/apiserver/schema"
)

// restored returns the message of kube-apiserver for a mismatch after a strategic merge patch. It
// converts the merged tree without JSON, and says less about the position.
func restored(err error) error {
	var wrong *schema.MismatchError
	if !errors.As(err, &wrong) {
		return err
	}
	kind := goKind(wrong.Value)
	switch wrong.Want {
	case schema.Array:
		return fmt.Errorf("cannot restore slice from %s", kind)
	case schema.Object:
		if wrong.Map {
			return fmt.Errorf("cannot restore map from %s", kind)
		}
		return fmt.Errorf("cannot restore struct from: %s", kind)
	case schema.Boolean:
		return errors.New("unrecognized type: bool")
	case schema.String:
		if kind == "int64" {
			return fmt.Errorf("cannot convert int64 to %s", wrong.GoType)
		}
		return errors.New("unrecognized type: string")
	case schema.Integer, schema.Number:
		if kind == "int64" || kind == "float64" {
			return fmt.Errorf("cannot convert %s to %s", kind, wrong.GoType)
		}
		return fmt.Errorf("unrecognized type: %s", wrong.GoType)
	}
	// Times and other special types are decoded from JSON one by one.
	alone := *wrong
	alone.Struct, alone.Path = "", ""
	return &alone
}

func goKind(value any) string {
	switch value.(type) {
	case map[string]any:
		return "map"
	case []any:
		return "slice"
	}
	return fmt.Sprintf("%T", value)
}
