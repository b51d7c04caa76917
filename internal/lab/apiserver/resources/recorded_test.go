package resources

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// recordedFile has the answers of kube-apiserver that upstream/apiserver/recorder recorded.
type recordedFile struct {
	Resource   string         `json:"resource"`
	Namespaced bool           `json:"namespaced"`
	Cases      []recordedCase `json:"cases"`
}

type recordedCase struct {
	Name   string            `json:"name"`
	Create *api.Unstructured `json:"create"`
	Answer *api.Unstructured `json:"answer"`
	Steps  []recordedStep    `json:"steps"`
	Table  *api.Unstructured `json:"table"`
	Now    time.Time         `json:"now"`
}

type recordedStep struct {
	Subresource string            `json:"subresource"`
	Before      *api.Unstructured `json:"before"`
	Update      *api.Unstructured `json:"update"`
	Answer      *api.Unstructured `json:"answer"`
}

func readRecorded(t testing.TB) map[string]recordedFile {
	t.Helper()
	paths, err := filepath.Glob("testdata/recorded/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	files := map[string]recordedFile{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var file recordedFile
		require.NoError(t, json.Unmarshal(data, &file), path)
		files[strings.TrimSuffix(filepath.Base(path), ".json")] = file
	}
	return files
}

func (f recordedFile) definition(t testing.TB) *Definition {
	t.Helper()
	at := strings.LastIndexByte(f.Resource, '/')
	gv, err := api.ParseGroupVersion(f.Resource[:at])
	require.NoError(t, err)
	d, ok := NewCatalog().Lookup(gv.WithResource(f.Resource[at+1:]))
	require.True(t, ok, f.Resource)
	return d
}

// read does what happens to a document before the hooks: pruning, conversion to the stored version,
// defaulting.
func read(d *Definition, document *api.Unstructured) *api.Unstructured {
	o := document.DeepCopy()
	d.Type.Prune(o.Object)
	if d.ToStorage != nil {
		d.ToStorage(o)
	}
	d.Strategy.Default(o)
	return o
}

// create does what the registry does for a new object. It takes the server's own fields from the
// recorded answer.
func create(d *Definition, sent, recorded *api.Unstructured, namespace string) (*api.Unstructured, []FieldError) {
	o := read(d, sent)
	metadata := ensure(o.Object, "metadata")
	for _, key := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} {
		delete(metadata, key)
	}
	for _, key := range []string{"uid", "creationTimestamp", "resourceVersion"} {
		keep(o, recorded, "metadata", key)
	}
	if d.Namespaced {
		metadata["namespace"] = namespace
	}
	if d.Strategy.PrepareCreate != nil {
		d.Strategy.PrepareCreate(o)
	}
	errs := ObjectMetaValidation(d, o)
	if d.Strategy.Validate != nil {
		errs = append(errs, d.Strategy.Validate(o)...)
	}
	return o, errs
}

// update does what the registry does for a write to an object or a subresource.
func update(d *Definition, step recordedStep) (*api.Unstructured, []FieldError) {
	before := step.Before.DeepCopy()
	if d.ToStorage != nil {
		d.ToStorage(before)
	}
	patch, _ := json.Marshal(step.Update)
	patched, _ := ApplyPatch(api.MergePatchType, step.Before.Object, patch, nil)
	o := read(d, &api.Unstructured{Object: patched})
	for _, key := range []string{"uid", "creationTimestamp", "resourceVersion", "generation", "selfLink"} {
		keep(o, before, "metadata", key)
	}
	prepare, validate := d.Strategy.PrepareUpdate, d.Strategy.ValidateUpdate
	switch step.Subresource {
	case "status":
		prepare, validate = d.Strategy.PrepareStatus, d.Strategy.ValidateStatusUpdate
	case "finalize":
		prepare, validate = d.Strategy.PrepareFinalize, d.Strategy.ValidateFinalizeUpdate
	}
	if prepare != nil {
		prepare(o, before)
	}
	errs := MetaUpdateValidation(d, o, before)
	if validate != nil {
		errs = append(errs, validate(o, before)...)
	}
	return o, errs
}

func TestObjectsAreStoredAndRefusedAsRecorded(t *testing.T) {
	for name, file := range readRecorded(t) {
		d := file.definition(t)
		for _, c := range file.Cases {
			t.Run(name+"/"+c.Name, func(t *testing.T) {
				o, errs := create(d, c.Create, c.Answer, "orrery-types")
				if why := struck[name+"/"+c.Name]; why != "" {
					assert.Empty(t, errs, "it is refused: remove it from the list (%s)", why)
					return
				}
				assertAnswer(t, d, c.Answer, o, errs)
				for _, step := range c.Steps {
					if step.refusedByTheRegistry() {
						continue
					}
					o, errs := update(d, step)
					assertAnswer(t, d, step.Answer, o, errs)
				}
			})
		}
	}
}

// struck are the cases that this server stores as they are, with the reason why kube-apiserver does
// not (docs/operate/apiserver.md, "Deliberate gaps").
var struck = map[string]string{
	"customresourcedefinitions/conversion":           "a webhook without a client configuration",
	"customresourcedefinitions/group of the project": "a protected group without approval",
	"csidrivers/small":                               "only the first change sets the generation",
	"priorityclasses/small":                          "changes do not count",
	"daemonsets/small":                               "an annotation has the generation",
	"endpointslices/small":                           "a port has an empty name",
	"events/new style with nothing":                  "no reporting component",
	"events/wrong namespace":                         "the object is in another namespace",
	"events.k8s.io/nothing":                          "no event time",
	"events.k8s.io/old fields":                       "fields of older Events",
	"jobs/many":                                      "a selector of its own pods",
	"jobs/small":                                     "a selector of its own pods",
	"limitranges/container":                          "a default follows from a maximum",
	"leases/bad":                                     "no duration",
	"networkpolicies/empty":                          "policyTypes follows from the rules",
	"networkpolicies/small":                          "policyTypes follows from the rules",
	"nodes/cordoned":                                 "podCIDRs follows from podCIDR",
	"persistentvolumeclaims/bound":                   "a quantity has a shorter form",
	"services/a load balancer":                       "an address of a load balancer has a mode",
	"services/a node port":                           "session affinity has no timeout",
	"services/the address stays":                     "an external name keeps the fields of addresses",
	"pods/the manifest again":                        "admission has added tolerations",
	"pods/tolerations may only be added":             "admission has added tolerations",
	"replicationcontrollers/small":                   "the selector follows from the template",
	"pods/scheduling gated":                          "a condition says so",
	"pods/completed and still running":               "a bound pod is nominated for a node",
}

// refusedByTheRegistry reports whether the registry, not the type, refuses the write, because of
// another name or UID.
func (s recordedStep) refusedByTheRegistry() bool {
	return s.Answer.GetKind() == "Status" && s.Answer.NestedString("reason") != string(api.ReasonInvalid)
}

// fewer are the cases in which this server finds only some of several mistakes.
var fewer = []string{
	"apiservices/bad", "apiservices/nothing_said", "pods/the_image_may_change", "pods/no_names_and_images",
	"configmaps/metadata_that_stays", "customresourcedefinitions/nothing_said",
	"customresourcedefinitions/nothing_in_the_spec", "customresourcedefinitions/no_storage,_no_schema,_twice",
	"customresourcedefinitions/bad_columns", "replicasets/bad_values", "deployments/bad_selector",
}

func assertAnswer(t *testing.T, d *Definition, want, o *api.Unstructured, errs []FieldError) {
	t.Helper()
	if want.GetKind() == "Status" {
		require.Equal(t, "Invalid", want.NestedString("reason"), "unexpected reason: %s", want.NestedString("message"))
		require.NotEmpty(t, errs, "should have been refused: %s", want.NestedString("message"))
		causes, _ := want.Nested("details", "causes").([]any)
		_, name, _ := strings.Cut(t.Name(), "/")
		assert.Equal(t, slices.Contains(fewer, name), len(errs) < len(causes), "mistakes found: %v", errs)
		for _, wrong := range errs {
			assert.Contains(t, shortened(want.NestedString("message")), shortened(wrong.Error()))
		}
		return
	}
	require.Empty(t, errs)
	if d.FromStorage != nil {
		d.FromStorage(o)
	}
	expected, got := maskedObject(want), maskedObject(o)
	assert.Equal(t, expected, got)
}

// Harmless differences: random addresses and ports, the time of a condition, values that upstream
// prints as Go structs, and comparisons that it appends to messages.
var (
	goStructs  = regexp.MustCompile(`spec.versions: Invalid value: (null|\[.*?\]): must`)
	comparison = regexp.MustCompile(`(?s)\n@@.*`)
	duplicated = regexp.MustCompile(`"TargetPort":[^,]*,`)
)

func shortened(message string) string {
	message = goStructs.ReplaceAllString(message, "spec.versions: Invalid value: […]: must")
	return strings.TrimSuffix(comparison.ReplaceAllString(duplicated.ReplaceAllString(message, ""), ""), "]")
}

func maskedObject(o *api.Unstructured) map[string]any {
	o = o.DeepCopy()
	delete(o.Object, "kind")
	delete(o.Object, "apiVersion")
	o.RemoveNested("metadata", "resourceVersion")
	spec := child(o.Object, "spec")
	for _, key := range []string{"tolerations", "priority", "preemptionPolicy", "taints"} { // set by admission
		delete(spec, key)
	}
	o.RemoveNested("status", "qosClass")
	if address := text(spec, "clusterIP"); address != "" && address != "None" {
		spec["clusterIP"], spec["clusterIPs"] = "<address>", "<address>"
	}
	for _, port := range items(spec, "ports") {
		if has(port, "nodePort") {
			port["nodePort"] = "<port>"
		}
	}
	for _, c := range items(child(o.Object, "status"), "conditions") {
		if has(c, "lastTransitionTime") {
			c["lastTransitionTime"] = "<time>"
		}
	}
	return o.Object
}

// simplerColumns are the columns that show the value at a path, where kube-apiserver computes more
// (docs/operate/apiserver.md, "Deliberate gaps").
var simplerColumns = map[string][]string{
	"events.k8s.io/v1/events":                 {"Source"},
	"v1/events":                               {"Source"},
	"v1/resourcequotas":                       {"Request", "Limit"},
	"autoscaling/v1/horizontalpodautoscalers": {"Targets"},
	"autoscaling/v2/horizontalpodautoscalers": {"Targets"},
	"batch/v1/cronjobs":                       {"Suspend"},
	"batch/v1/jobs":                           {"Completions"},
	"networking.k8s.io/v1/ingressclasses":     {"Parameters"},
	"networking.k8s.io/v1/ingresses":          {"Ports"},
	"storage.k8s.io/v1/storageclasses":        {"Name"},
	"v1/nodes":                                {"Kernel-Version", "Roles"},
	"v1/pods":                                 {"Readiness Gates"},
}

// otherTables are the cases whose columns know less than those of kube-apiserver, with the reason.
var otherTables = map[string]string{
	"pods/completed":                  "the reasons of containers are not shown",
	"pods/exit code without a reason": "the reasons of containers are not shown",
	"pods/image cannot be pulled":     "the reasons of containers are not shown",
	"pods/killed by a signal":         "the reasons of containers are not shown",
	"pods/scheduling gated":           "the reasons of containers are not shown",
	"pods/initialising":               "init containers do not run here",
	"pods/init container fails":       "init containers do not run here",
	"pods/init container waits":       "init containers do not run here",
	"pods/running":                    "no container is restarted, so there is no time of the last restart",

	"pods/ports, probes, volumes, environment, init containers": "init containers do not run here",
}

func TestTablesAreAsRecorded(t *testing.T) {
	for name, file := range readRecorded(t) {
		d := file.definition(t)
		for _, c := range file.Cases {
			if c.Table == nil || c.Table.GetKind() != "Table" || otherTables[name+"/"+c.Name] != "" {
				continue
			}
			t.Run(name+"/"+c.Name, func(t *testing.T) {
				last := c.Answer
				for _, step := range c.Steps {
					if step.Answer.GetKind() != "Status" {
						last = step.Answer
					}
				}
				got := tableOf(t, d, stored(t, d, last),
					TableOptions{Include: IncludeNone, Now: c.Now, ResourceVersion: "1"})
				assertColumns(t, c.Table, got)
				simpler := simplerColumns[file.Resource]
				assert.Equal(t, cellsOf(t, c.Table, simpler), cellsOf(t, got, simpler))
			})
		}
	}
}

func stored(t testing.TB, d *Definition, o *api.Unstructured) *store.Object {
	t.Helper()
	o = o.DeepCopy()
	if d.ToStorage != nil {
		d.ToStorage(o)
	}
	object, err := store.New(store.Config{}).Collection(d.Prefix).Create(store.Draft{Object: o}, nil)
	require.NoError(t, err)
	return object
}

func tableOf(t testing.TB, d *Definition, object *store.Object, options TableOptions) *api.Unstructured {
	t.Helper()
	var table api.Unstructured
	data := Table(nil, d, func(yield func(*store.Object) bool) { yield(object) }, options)
	require.NoError(t, json.Unmarshal(data, &table), "%s", data)
	return &table
}

// assertColumns compares the columns without their descriptions, which are our own.
func assertColumns(t *testing.T, want, got *api.Unstructured) {
	t.Helper()
	columns := items(got.Object, "columnDefinitions")
	for _, column := range columns {
		assert.NotEmpty(t, column["description"])
		delete(column, "description")
	}
	assert.Equal(t, items(want.Object, "columnDefinitions"), columns)
}

// cellsOf returns the cells of the only row, without the age and the given columns.
func cellsOf(t *testing.T, table *api.Unstructured, without []string) []any {
	t.Helper()
	rows := items(table.Object, "rows")
	require.Len(t, rows, 1)
	cells, _ := rows[0]["cells"].([]any)
	for i, column := range items(table.Object, "columnDefinitions") {
		if text(column, "name") == "Age" {
			assert.Regexp(t, `^\d+s$`, cells[i])
			cells[i] = "<age>"
		}
		if slices.Contains(without, text(column, "name")) {
			cells[i] = nil
		}
	}
	return cells
}
