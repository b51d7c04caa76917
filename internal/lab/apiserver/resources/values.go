package resources

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

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
				parts = append(parts, fmt.Sprintf("%s: %s/%s", name, cmp.Or(text(used, name), "0"), text(hard, name)))
			}
		}
		return strings.Join(parts, ", ")
	}
}
