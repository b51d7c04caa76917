package resources

import (
	"encoding/base64"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

func configMapKeys(o *api.Unstructured, _ time.Time) any {
	return int64(len(child(o.Object, "data")) + len(child(o.Object, "binaryData")))
}

// fillSecret moves stringData, which is write-only, to data.
func fillSecret(o tree) {
	plain := child(o, "stringData")
	delete(o, "stringData")
	if len(plain) == 0 {
		return
	}
	data := ensure(o, "data")
	for key := range plain {
		data[key] = base64.StdEncoding.EncodeToString([]byte(text(plain, key)))
	}
}

// nameOfUID names an object without a name after its UID, as kube-apiserver does for LimitRanges.
func nameOfUID(o *api.Unstructured) {
	if o.GetName() == "" {
		metadata := ensure(o.Object, "metadata")
		metadata["name"] = metadata["uid"]
	}
}

// fillLimitRange derives the absent limits of containers: default from max, and defaultRequest from
// default or else min.
func fillLimitRange(o tree) {
	for _, limit := range items(child(o, "spec"), "limits") {
		if text(limit, "type") != "Container" {
			continue
		}
		fillMap(limit, "default", child(limit, "max"))
		fillMap(limit, "defaultRequest", child(limit, "default"))
		fillMap(limit, "defaultRequest", child(limit, "min"))
	}
}

func quotaCell(limits bool) func(*api.Unstructured, time.Time) any {
	return func(o *api.Unstructured, _ time.Time) any {
		status := child(o.Object, "status")
		hard, used := child(status, "hard"), child(status, "used")
		var parts []string
		for _, name := range sortedKeys(hard) {
			if strings.HasPrefix(name, "limits.") == limits {
				parts = append(parts, name+": "+quantityText(used[name])+"/"+quantityText(hard[name]))
			}
		}
		return strings.Join(parts, ", ")
	}
}

func quantityText(value any) string {
	if a, ok := schema.ParseAmount(value); ok {
		return a.String()
	}
	return "0"
}

// compareQuantities compares two quantities. It returns false if one is invalid.
func compareQuantities(a, b any) (int, bool) {
	left, ok := schema.ParseAmount(a)
	right, also := schema.ParseAmount(b)
	if !ok || !also {
		return 0, false
	}
	return left.Cmp(right), true
}
