package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/randfill"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/fast"
)

// restclient must read the JSON that Kubernetes' own serializers write for metadata, errors and
// events.

// heads fills metadata at random, with every field or a few.
func heads(seed int64) *randfill.Filler {
	words := []string{"", "a", "web", "kubelet", `"quoted"`, "ü€😀", "<a>&", "line\nbreak", "\\", "\u2028"}
	return randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 3).Funcs(
		func(v *string, c randfill.Continue) { *v = words[c.Intn(len(words))] },
		func(v *types.UID, c randfill.Continue) { *v = types.UID(words[c.Intn(len(words))]) },
		func(v *metav1.Time, c randfill.Continue) { *v = metav1.Unix(c.Int63n(4e9), 0) },
		func(v *metav1.FieldsV1, c randfill.Continue) {
			*v = *metav1.NewFieldsV1(fmt.Sprintf(`{"f:%d":{"k:{\"ip\":\"%d\"}":{}}}`, c.Intn(9), c.Intn(9)))
		},
	)
}

// head returns the next random metadata.
func head(random *randfill.Filler, number int) (object metav1.PartialObjectMetadata) {
	random.Fill(&object)
	object.TypeMeta = metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}
	object.Name, object.SelfLink = fmt.Sprintf("web-%d", number), ""
	if number%4 == 0 {
		object.CreationTimestamp = metav1.Time{}
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
	for seed := range int64(20) {
		random := heads(seed)
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
	random := heads(3)
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
