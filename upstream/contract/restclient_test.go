package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/fast"
)

// restclient must read the JSON that Kubernetes' own serializers write for metadata, errors and
// events.

// head returns random metadata with every field, or a few.
func head(random *rand.Rand, number int) metav1.PartialObjectMetadata {
	text := func() string {
		words := []string{"", "a", "web", "kubelet", `"quoted"`, "ü€😀", "<a>&", "line\nbreak", "\\", "\u2028"}
		return words[random.IntN(len(words))]
	}
	maybe := func() bool { return random.IntN(4) > 0 }
	moment := func() metav1.Time { return metav1.Unix(random.Int64N(4e9), 0) }
	object := metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"},
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("web-%d", number), Namespace: text(), UID: types.UID(text()),
			ResourceVersion: text()},
	}
	if maybe() {
		object.GenerateName, object.Generation, object.CreationTimestamp = "web-", random.Int64(), moment()
	}
	for range random.IntN(3) {
		metav1.SetMetaDataLabel(&object.ObjectMeta, "label-"+text(), text())
		metav1.SetMetaDataAnnotation(&object.ObjectMeta, "annotation-"+text(), text())
		object.Finalizers = append(object.Finalizers, text())
		yes := maybe()
		object.OwnerReferences = append(object.OwnerReferences, metav1.OwnerReference{Kind: text(), Name: text(),
			APIVersion: text(), UID: types.UID(text()), Controller: &yes})
	}
	if !maybe() {
		deleted, grace := moment(), random.Int64N(100)
		object.DeletionTimestamp, object.DeletionGracePeriodSeconds = &deleted, &grace
	}
	for range random.IntN(4) {
		entry := metav1.ManagedFieldsEntry{Manager: text(), Operation: metav1.ManagedFieldsOperationType(text()),
			APIVersion: text(), Subresource: text()}
		if maybe() {
			at := moment()
			entry.Time = &at
		}
		if maybe() {
			fields, _ := json.Marshal(map[string]any{"f:" +
				text(): map[string]any{`k:{"ip":"` + fmt.Sprint(number) + `"}`: struct{}{}}})
			entry.FieldsType, entry.FieldsV1 = "FieldsV1", metav1.NewFieldsV1(string(fields))
		}
		object.ManagedFields = append(object.ManagedFields, entry)
	}
	return object
}

// answering serves one body.
func answering(t *testing.T, contentType string, code int, body []byte) *restclient.Client {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		w.Write(body)
	}))
	t.Cleanup(server.Close)
	client, err := restclient.New(restclient.Config{Host: server.URL, MaxRetries: -1, Codec: fast.Codec{}})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func asJSON(t *testing.T, object any) string {
	t.Helper()
	text, err := json.Marshal(object)
	require.NoError(t, err)
	return string(text)
}

func TestHeadsMeanWhatKubernetesWrites(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		rest := int64(7)
		list := metav1.PartialObjectMetadataList{
			TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"},
			ListMeta: metav1.ListMeta{ResourceVersion: "12", Continue: "more", RemainingItemCount: &rest},
		}
		for i := range 50 {
			list.Items = append(list.Items, head(random, i))
		}
		client := answering(t, "application/json", 200, []byte(asJSON(t, &list)))
		got, err := restclient.Metadata(client, api.PodsResource, "").List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		assert.Equal(t, "12", got.ResourceVersion)
		assert.Equal(t, "more", got.Continue)
		assert.Equal(t, rest, *got.RemainingItemCount)
		require.Len(t, got.Items, len(list.Items))
		for i := range list.Items {
			assert.JSONEq(t, withoutNull(asJSON(t, withoutManagedFields(list.Items[i]))),
				withoutNull(asJSON(t, got.Items[i])))
		}
	}
}

// withoutManagedFields returns the metadata that restclient keeps: all but managedFields, which no
// controller reads.
func withoutManagedFields(head metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
	head.ManagedFields = nil
	return &head
}

// withoutNull removes a null creation time, which only one side writes.
func withoutNull(text string) string {
	return string(bytes.ReplaceAll([]byte(text), []byte(`"creationTimestamp":null,`), nil))
}

func TestRefusals(t *testing.T) {
	status := refusal()
	client := answering(t, "application/json", 410, []byte(asJSON(t, &status)))
	_, err := restclient.Metadata(client, api.PodsResource, "").Get(t.Context(), "web", api.GetOptions{})
	var refused *api.StatusError
	require.ErrorAs(t, err, &refused)
	assert.JSONEq(t, asJSON(t, &status), withMetadata(asJSON(t, refused.Status)))
}

func refusal() metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired,
		Message: "too old resource version",
		Details: &metav1.StatusDetails{Name: "web", Group: "g", Kind: "pods", UID: "u", RetryAfterSeconds: 3,
			Causes: []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "m", Field: "f"}}},
	}
}

// withMetadata adds empty metadata, which only one side writes.
func withMetadata(text string) string {
	return string(bytes.Replace([]byte(text), []byte(`{`), []byte(`{"metadata":{},`), 1))
}

func TestWatches(t *testing.T) {
	var body bytes.Buffer
	send := func(kind string, object any) {
		event := metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: []byte(asJSON(t, object))}}
		body.WriteString(asJSON(t, &event) + "\n")
	}
	random := rand.New(rand.NewPCG(3, 3))
	var sent []metav1.PartialObjectMetadata
	for i := range 30 {
		object := head(random, i)
		object.CreationTimestamp = metav1.NewTime(time.Unix(1e9, 0))
		sent = append(sent, object)
		send("MODIFIED", &object)
	}
	bookmark := metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"},
		ObjectMeta: metav1.ObjectMeta{ResourceVersion: "99",
			Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}},
	}
	send("BOOKMARK", &bookmark)
	status := refusal()
	send("ERROR", &status)

	client := answering(t, "application/json;stream=watch", 200, body.Bytes())
	w, err := restclient.Metadata(client, api.PodsResource, "").Watch(t.Context(), api.ListOptions{})
	require.NoError(t, err)
	defer w.Stop()
	for i := range sent {
		event, err := w.Next()
		require.NoError(t, err)
		assert.Equal(t, api.WatchModified, event.Type)
		assert.JSONEq(t, asJSON(t, withoutManagedFields(sent[i])), asJSON(t, event.Object))
	}
	event, err := w.Next()
	require.NoError(t, err)
	assert.True(t, event.InitialEventsEnd)
	assert.Equal(t, "99", event.ResourceVersion)
	event, err = w.Next()
	require.NoError(t, err)
	assert.JSONEq(t, asJSON(t, &status), withMetadata(asJSON(t, event.Status)))
	_, err = w.Next()
	assert.Equal(t, io.EOF, err)
}
