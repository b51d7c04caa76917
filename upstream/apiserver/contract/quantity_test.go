package contract

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

// TestQuantitiesAreTheOriginals formats random quantities with both implementations.
func TestQuantitiesAreTheOriginals(t *testing.T) {
	typ, ok := schema.Builtin().Type(api.GroupVersionKind{Version: "v1", Kind: "ResourceQuota"})
	require.True(t, ok)
	suffixes := []string{"", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E2", "e-3", "e+1", "e-12", "e", "x", "ki"}
	numbers := []string{"0", "1", "-1", "+5", "10", "100", "999", "1000", "1024", "1025", "1048576", "1500", "0.5", "1.5", ".5", "5.", "0.0001", "0.123456789123", "-0.25", "1000000", "007", "1.10", "123456789", "3.0000000001"}
	for seed := range uint64(5000) {
		d := rand.New(rand.NewPCG(seed, 3))
		number := numbers[d.IntN(len(numbers))]
		if d.IntN(3) == 0 {
			number = fmt.Sprint(d.Int64N(1 << uint(1+d.IntN(45))))
		}
		text := number + suffixes[d.IntN(len(suffixes))]
		document := map[string]any{"spec": map[string]any{"hard": map[string]any{string(corev1.ResourcePods): text}}}
		var theirs resource.Quantity
		err := theirs.UnmarshalJSON([]byte(strconv.Quote(text)))
		if err != nil {
			mistake := typ.Check(document).TypeError
			require.Error(t, mistake, "%q: %v", text, err)
			require.Equal(t, err.Error(), mistake.Error(), text)
			continue
		}
		require.NoError(t, typ.Check(document).TypeError, text)
		ours, ok := schema.ParseAmount(text)
		require.True(t, ok, text)
		stored, err := theirs.MarshalJSON()
		require.NoError(t, err)
		// The original keeps some texts as they are (007, +5 and 5.), and parses 1000E as 1.
		if string(stored) != strconv.Quote(text) && !strings.HasSuffix(ours.String(), "000E") {
			require.Equal(t, string(stored), strconv.Quote(ours.String()), text)
		}
	}
}
