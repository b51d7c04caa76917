package syncbench

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"orrery/restclient/api"
)

// pod is what the generator makes: the head of a pod.
type pod = api.PartialObjectMetadata

// Digest summarises the content of a set of pods, regardless of order. The zero value is that of
// the empty set.
type Digest struct {
	// Pods is the number of pods.
	Pods int `json:"pods"`
	// Low and High are the sums of the two halves of the first sixteen bytes of each pod's hash.
	Low  uint64 `json:"low"`
	High uint64 `json:"high"`
}

// Add adds everything that a cache keeps of a pod, so not the managed fields.
func (d *Digest) Add(head api.ObjectMeta) {
	head.ManagedFields = api.ManagedFields{}
	hash := sha256.Sum256(mustMarshal(head))
	d.Pods++
	d.Low += binary.LittleEndian.Uint64(hash[:8])
	d.High += binary.LittleEndian.Uint64(hash[8:16])
}

// String returns the digest as hexadecimal digits.
func (d Digest) String() string { return fmt.Sprintf("%016x%016x", d.High, d.Low) }

func mustMarshal(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // cannot fail for generated pods
	}
	return text
}

// The generated cluster: its pods are spread over these deployments and namespaces.
const (
	deployments = 200
	namespaces  = 50
)

// firstCreated is when the first pod was created: 2026-01-05 08:00:00 UTC.
const firstCreated = 1_767_600_000

// Generator generates the running pods of a cluster with a network plugin: 200 deployments in 50
// namespaces, in list order. The heads look as kube-apiserver shows them:
//
//   - four labels, the same for all pods of a deployment, and two more in every third deployment;
//   - two annotations of the network plugin that differ in each pod, two of the deployment's;
//   - one owner, the replica set;
//   - managed fields of kube-controller-manager, the plugin and kubelet, with the times of each
//     pod, the replica set's UID, the pod's address, and the names of containers, variables and
//     volumes.
//
// The same seed makes the same pods.
type Generator struct {
	objects, size int
	random        *rand.Rand
	made          int
	current       deployment
}

// NewGenerator returns a generator of cfg.Objects pods.
func NewGenerator(cfg Config) *Generator {
	return &Generator{objects: cfg.Objects, size: cfg.ObjectSize, random: rand.New(rand.NewPCG(cfg.Seed, 0x5eed)), current: deployment{number: -1}}
}

// deployment is shared by its pods.
type deployment struct {
	number                                       int
	name, namespace, hash, uid                   string
	labels, annotations                          map[string]string
	controllerFields, pluginFields, statusFields string
}

// Next returns the next pod, or false after the last. Pods may share maps.
func (g *Generator) Next() (*pod, bool) {
	if g.made == g.objects {
		return nil, false
	}
	if number := g.made * deployments / g.objects; number != g.current.number {
		g.current = g.newDeployment(number)
	}
	d, i := &g.current, g.made
	g.made++
	created := firstCreated + int64(d.number)*3600 + int64(g.random.IntN(120))
	ip := fmt.Sprintf("10.%d.%d.%d", 128+i>>16, i>>8&255, i&255)
	annotations := map[string]string{
		"cni.projectcalico.org/containerID": g.hex(64),
		"cni.projectcalico.org/podIP":       ip + "/32",
	}
	maps.Copy(annotations, d.annotations)
	yes, owner := true, d.name+"-"+d.hash
	kubelet := strings.Replace(d.statusFields, "POD-ADDRESS", ip, 1)
	made := &pod{
		TypeMeta: api.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"},
		ObjectMeta: api.ObjectMeta{
			// The name must be unique and in list order.
			Name:         owner + "-" + base36(i) + g.digits(2, "bcdfghjklmnpqrstvwxz2456789"),
			GenerateName: owner + "-", Namespace: d.namespace,
			UID: g.uuid(), ResourceVersion: strconv.Itoa(1_000_000 + 7*i), Generation: 1,
			CreationTimestamp: api.NewTime(at(created)), Labels: d.labels, Annotations: annotations,
			OwnerReferences: []api.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: owner, UID: d.uid,
				Controller: &yes, BlockOwnerDeletion: &yes,
			}},
			ManagedFields: api.NewManagedFields(mustMarshal([]manager{
				newManager("kube-controller-manager", "", created, d.controllerFields),
				newManager("calico", "status", created+2, d.pluginFields),
				newManager("kubelet", "status", created+5+int64(g.random.IntN(30)), kubelet),
			})),
		},
	}
	g.pad(made)
	return made, true
}

// manager is an entry of the managed fields.
type manager struct {
	Name        string          `json:"manager"`
	Operation   string          `json:"operation"`
	APIVersion  string          `json:"apiVersion"`
	Time        time.Time       `json:"time"`
	FieldsType  string          `json:"fieldsType"`
	Fields      json.RawMessage `json:"fieldsV1"`
	Subresource string          `json:"subresource,omitempty"`
}

func newManager(name, subresource string, seconds int64, fields string) manager {
	return manager{
		Name: name, Operation: "Update", APIVersion: "v1", Time: at(seconds),
		FieldsType: "FieldsV1", Fields: json.RawMessage(fields), Subresource: subresource,
	}
}

func at(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

func (g *Generator) newDeployment(number int) deployment {
	d := deployment{
		number:    number,
		name:      [...]string{"api", "billing", "checkout", "web"}[number%4],
		namespace: fmt.Sprintf("namespace-%03d", number*namespaces/deployments),
		hash:      g.hex(10), uid: g.uuid(),
	}
	d.labels = map[string]string{"app": d.name, "pod-template-hash": d.hash, "team": "team-" + strconv.Itoa(number%7), "track": "stable"}
	if number%3 == 0 {
		d.labels["app.kubernetes.io/managed-by"] = "Helm"
		d.labels["helm.sh/chart"] = d.name + "-1." + strconv.Itoa(number%20) + ".0"
	}
	d.annotations = map[string]string{
		"kubectl.kubernetes.io/restartedAt": "2026-01-05T07:59:" + strconv.Itoa(10+number%50) + "Z",
		"prometheus.io/port":                strconv.Itoa(8000 + number%10),
	}
	d.controllerFields = controllerFields(d, number%3)
	d.pluginFields = `{"f:metadata":{"f:annotations":{"f:cni.projectcalico.org/containerID":{},"f:cni.projectcalico.org/podIP":{}}}}`
	d.statusFields = `{"f:status":{"f:conditions":{"k:{\"type\":\"Initialized\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},` +
		`"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},` +
		`"f:containerStatuses":{},"f:hostIP":{},"f:hostIPs":{},"f:observedGeneration":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"POD-ADDRESS\"}":{".":{},"f:ip":{}}},"f:startTime":{}}}`
	return d
}

// controllerFields returns the replica set controller's managed fields of a pod with the given
// number of environment variables.
func controllerFields(d deployment, variables int) string {
	var b strings.Builder
	b.WriteString(`{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/restartedAt":{},"f:prometheus.io/port":{}},"f:generateName":{},"f:labels":{".":{}`)
	for _, key := range slices.Sorted(maps.Keys(d.labels)) {
		fmt.Fprintf(&b, `,"f:%s":{}`, key)
	}
	fmt.Fprintf(&b, `},"f:ownerReferences":{".":{},"k:{\"uid\":\"%s\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"%s\"}":{".":{},"f:env":{".":{}`, d.uid, d.name)
	for i := range variables {
		fmt.Fprintf(&b, `,"k:{\"name\":\"%s_%d\"}":{".":{},"f:name":{},"f:value":{}}`, strings.ToUpper(d.name), i)
	}
	b.WriteString(`},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{".":{},"f:limits":{".":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},` +
		`"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}`)
	return b.String()
}

// PaddingAnnotation is the annotation that pads a pod's head to ObjectSize.
const PaddingAnnotation = "orrery.example/padding"

func (g *Generator) pad(pod *pod) {
	if g.size == 0 {
		return
	}
	const frame = len(`,"":""`) + len(PaddingAnnotation)
	if missing := g.size - len(mustMarshal(pod)) - frame; missing > 0 {
		pod.Annotations[PaddingAnnotation] = strings.Repeat("x", missing)
	}
}

func (g *Generator) hex(n int) string { return g.digits(n, "0123456789abcdef") }

func (g *Generator) digits(n int, alphabet string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[g.random.IntN(len(alphabet))]
	}
	return string(b)
}

func (g *Generator) uuid() string {
	return g.hex(8) + "-" + g.hex(4) + "-4" + g.hex(3) + "-a" + g.hex(3) + "-" + g.hex(12)
}

// base36 returns i in five digits.
func base36(i int) string {
	text := strconv.FormatInt(int64(i), 36)
	return strings.Repeat("0", max(0, 5-len(text))) + text
}
