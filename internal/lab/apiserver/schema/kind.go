package schema

// Kind is what sort of value a type describes.
type Kind int

// The kinds.
const (
	// Any is a place where everything fits. It is the zero value.
	Any Kind = iota
	// Object has named fields (Type.Field), or free keys with values of one type (Type.Values).
	Object
	Array
	String
	Integer
	Number
	Boolean
	// IntOrString is a port or a share: 80, "http", "25%".
	IntOrString
	// Quantity is an amount such as "100m" or "1Gi"; a number is understood too.
	Quantity
	// Time is RFC 3339 with seconds.
	Time
	// MicroTime is RFC 3339 with microseconds.
	MicroTime
	// Bytes is text in base64.
	Bytes
)

var kindNames = [...]string{"any", "object", "array", "string", "integer", "number", "boolean", "int-or-string", "quantity", "time",
	"micro-time", "bytes"}

// String returns the name of the kind.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}
