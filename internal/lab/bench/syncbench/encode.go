package syncbench

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// appendJSON writes the pod's head as kube-apiserver does: the same fields in the same order.
func appendJSON(b []byte, p *Pod) []byte {
	b = append(b, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`...)
	return append(appendMetadataJSON(b, p), '}')
}

// appendTypedJSON writes a whole pod. Its body is the same for all.
func appendTypedJSON(b []byte, p *Pod) []byte {
	b = append(b, `{"metadata":`...)
	b = appendMetadataJSON(b, p)
	return append(b, podBody...)
}

const podBody = `,"spec":{"volumes":[{"name":"kube-api-access","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},` +
	`{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}}],"defaultMode":420}}],"containers":[{"name":"main","image":"registry.example/shop/main:1.4.2",` +
	`"ports":[{"containerPort":8080,"protocol":"TCP"}],"env":[{"name":"MODE","value":"production"},{"name":"LEVEL","value":"info"}],"resources":{"limits":{"memory":"256Mi"},` +
	`"requests":{"cpu":"100m","memory":"128Mi"}},"volumeMounts":[{"name":"kube-api-access","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],` +
	`"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,` +
	`"dnsPolicy":"ClusterFirst","serviceAccountName":"default","nodeName":"node-17","securityContext":{},"schedulerName":"default-scheduler","priority":0,"enableServiceLinks":true,` +
	`"preemptionPolicy":"PreemptLowerPriority"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-05T08:00:30Z"}],` +
	`"hostIP":"10.0.0.17","startTime":"2026-01-05T08:00:05Z","qosClass":"Burstable"}}`

func appendMetadataJSON(b []byte, p *Pod) []byte {
	b = appendField(b, '{', "name", p.Name)
	b = appendField(b, ',', "generateName", p.GenerateName)
	b = appendField(b, ',', "namespace", p.Namespace)
	b = appendField(b, ',', "uid", p.UID)
	b = appendField(b, ',', "resourceVersion", p.ResourceVersion)
	b = append(b, `,"generation":`...)
	b = strconv.AppendInt(b, p.Generation, 10)
	b = appendField(b, ',', "creationTimestamp", rfc3339(p.Created))
	b = appendMapJSON(append(b, `,"labels":`...), p.Labels)
	b = appendMapJSON(append(b, `,"annotations":`...), p.Annotations)
	b = append(b, `,"ownerReferences":[`...)
	for i, o := range p.Owners {
		b = appendField(next(b, i), '{', "apiVersion", o.APIVersion)
		b = appendField(b, ',', "kind", o.Kind)
		b = appendField(b, ',', "name", o.Name)
		b = appendField(b, ',', "uid", o.UID)
		b = strconv.AppendBool(append(b, `,"controller":`...), o.Controller)
		b = strconv.AppendBool(append(b, `,"blockOwnerDeletion":`...), o.BlockOwnerDeletion)
		b = append(b, '}')
	}
	b = append(b, `],"managedFields":[`...)
	for i, m := range p.Managers {
		b = appendField(next(b, i), '{', "manager", m.Name)
		b = appendField(b, ',', "operation", m.Operation)
		b = appendField(b, ',', "apiVersion", m.APIVersion)
		b = appendField(b, ',', "time", rfc3339(m.Time))
		b = appendField(b, ',', "fieldsType", m.FieldsType)
		b = append(append(b, `,"fieldsV1":`...), m.Fields...)
		if m.Subresource != "" {
			b = appendField(b, ',', "subresource", m.Subresource)
		}
		b = append(b, '}')
	}
	return append(b, `]}`...)
}

func next(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

func appendField(b []byte, before byte, name, value string) []byte {
	b = append(b, before)
	b = appendText(b, name)
	b = append(b, ':')
	return appendText(b, value)
}

// appendText writes a string that needs no escapes: the generator makes no others.
func appendText(b []byte, text string) []byte {
	b = append(b, '"')
	b = append(b, text...)
	return append(b, '"')
}

func appendMapJSON(b []byte, m map[string]string) []byte {
	b = append(b, '{')
	for i, key := range sortedKeys(m) {
		b = appendText(next(b, i), key)
		b = appendText(append(b, ':'), m[key])
	}
	return append(b, '}')
}

func rfc3339(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }

// jsonQuoted is for texts of which nothing is known.
func jsonQuoted(text string) []byte {
	quoted, _ := json.Marshal(text)
	return quoted
}

// appendProtobuf writes the pod's head as the message PartialObjectMetadata. The numbers of the fields are those of
// apimachinery's generated.proto.
func appendProtobuf(b []byte, p *Pod) []byte {
	var meta []byte
	meta = appendString(meta, 1, p.Name)
	meta = appendString(meta, 2, p.GenerateName)
	meta = appendString(meta, 3, p.Namespace)
	meta = appendString(meta, 4, "") // the self link is written although it is empty
	meta = appendString(meta, 5, p.UID)
	meta = appendString(meta, 6, p.ResourceVersion)
	meta = protowire.AppendTag(meta, 7, protowire.VarintType)
	meta = protowire.AppendVarint(meta, uint64(p.Generation))
	meta = appendMessage(meta, 8, timestamp(p.Created))
	meta = appendMapProtobuf(meta, 11, p.Labels)
	meta = appendMapProtobuf(meta, 12, p.Annotations)
	for _, o := range p.Owners {
		var owner []byte
		owner = appendString(owner, 1, o.Kind)
		owner = appendString(owner, 3, o.Name)
		owner = appendString(owner, 4, o.UID)
		owner = appendString(owner, 5, o.APIVersion)
		owner = append(protowire.AppendTag(owner, 6, protowire.VarintType), flag(o.Controller))
		owner = append(protowire.AppendTag(owner, 7, protowire.VarintType), flag(o.BlockOwnerDeletion))
		meta = appendMessage(meta, 13, owner)
	}
	for _, m := range p.Managers {
		var entry []byte
		entry = appendString(entry, 1, m.Name)
		entry = appendString(entry, 2, m.Operation)
		entry = appendString(entry, 3, m.APIVersion)
		entry = appendMessage(entry, 4, timestamp(m.Time))
		entry = appendString(entry, 6, m.FieldsType)
		entry = appendMessage(entry, 7, appendString(nil, 1, m.Fields))
		entry = appendString(entry, 8, m.Subresource)
		meta = appendMessage(meta, 17, entry)
	}
	return appendMessage(b, 1, meta)
}

func timestamp(seconds int64) []byte {
	b := protowire.AppendTag(nil, 1, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(seconds))
	return append(protowire.AppendTag(b, 2, protowire.VarintType), 0)
}

func appendMapProtobuf(b []byte, number protowire.Number, m map[string]string) []byte {
	for _, key := range sortedKeys(m) {
		b = appendMessage(b, number, appendString(appendString(nil, 1, key), 2, m[key]))
	}
	return b
}

func appendString(b []byte, number protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), text)
}

func appendMessage(b []byte, number protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), message)
}

// envelope puts a message of that kind into the form in which kube-apiserver sends it: four magic bytes, and a
// runtime.Unknown that names the kind. size is the length of the message, which is not included but has to follow; what
// comes after it in the envelope is returned as the tail.
func envelope(apiVersion, kind string, size int) (head, tail []byte) {
	head = append(head, 'k', '8', 's', 0)
	head = appendMessage(head, 1, appendString(appendString(nil, 1, apiVersion), 2, kind))
	head = protowire.AppendTag(head, 2, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(size))
	return head, appendString(appendString(nil, 3, ""), 4, "")
}
