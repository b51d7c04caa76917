package why

import (
	"bytes"
	_ "embed" // catalogue.yaml
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// Cause is an entry of the catalogue, one reason why a namespace stays: a row of catalogue.yaml,
// which describes its fields.
type Cause struct {
	ID       string   `yaml:"id"`
	Title    string   `yaml:"title"`
	Issues   []int    `yaml:"issues"`
	Lesson   string   `yaml:"lesson"`
	Proof    string   `yaml:"proof"`
	Do       []string `yaml:"do"`
	DoNot    string   `yaml:"doNot"`
	Hides    []string `yaml:"hides"`
	Outdates []string `yaml:"outdates"`
	Waits    bool     `yaml:"waits"`
	Itself   bool     `yaml:"itself"`

	judge func(*Evidence) []Finding
}

// judges returns what looks for each cause in the evidence.
func judges() map[string]func(*Evidence) []Finding {
	return map[string]func(*Evidence) []Finding{
		"C01": undiscovered("C01"),
		"C02": undiscovered("C02"),
		"C03": undiscovered("C03"),
		"C04": ownerless("C04"),
		"C05": ownerless("C05"),
		"C06": withoutRights,
		"C07": webhookUnreachable,
		"C08": admissionDenies,
		"C09": conversionFails,
		"C10": withinGrace,
		"C11": onLostNode,
		"C12": notTornDown,
		"C13": jobFinalizer,
		"C14": protectedClaim,
		"C15": ownerless("C15"),
		"C16": metadataFinalizers,
		"C17": collectorFinalizers,
		"C18": foreignTokens,
		"C19": noController,
		"C20": twoControllers,
		"C21": mayNotDelete,
		"C22": notDeleted,
		"C23": unreadable,
		"C24": ownerless("C24"),
		"C25": definitionGoes,
		"C26": dependents,
		"C27": shrinks,
		"C28": grows,

		notStuckID:      notStuck,
		missingRightsID: func(*Evidence) []Finding { return nil }, // judged last, from what the others lack
	}
}

//go:embed catalogue.yaml
var catalogueFile []byte

var catalogue struct {
	sync.Once
	causes []Cause
}

// Catalogue returns the causes in the order of the report. It is a new slice with each call.
func Catalogue() []Cause {
	catalogue.Do(func() {
		decodeOwn(catalogueFile, &catalogue.causes)
		all := judges()
		for i := range catalogue.causes {
			catalogue.causes[i].judge = all[catalogue.causes[i].ID]
		}
	})
	return slices.Clone(catalogue.causes)
}

// decodeOwn reads a file of this package, which every test does, too.
func decodeOwn(file []byte, into any) {
	decoder := yaml.NewDecoder(bytes.NewReader(file))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		panic(err)
	}
}

// Lookup returns the cause with an id, in upper or lower case, or with its number.
func Lookup(id string) (Cause, bool) {
	if number, err := strconv.Atoi(strings.TrimLeft(id, "Cc")); err == nil {
		id = fmt.Sprintf("C%02d", number)
	}
	cause := find(Catalogue(), func(c Cause) bool { return strings.EqualFold(c.ID, id) })
	if cause == nil {
		return Cause{}, false
	}
	return *cause, true
}

// IDs returns the ids of the catalogue, sorted.
func IDs() []string {
	var ids []string
	for _, cause := range Catalogue() {
		ids = append(ids, cause.ID)
	}
	slices.Sort(ids)
	return ids
}

// Genuine returns the ids of the causes that the tests also set up on a genuine control plane:
// the server in memory imitates most of them only in part.
func Genuine() []string {
	return strings.Fields("C01 C02 C03 C04 C05 C06 C07 C08 C09 C11 C13 C14 C16 C17 C19 C20 C21 C22 C23 C24 C25 C28 " +
		"C30")
}

// gracePeriod is how long after the deletion the controller begins: until then some API servers
// accept new content.
const gracePeriod = 5 * time.Second
