package resources

import (
	"encoding/base64"
	"time"

	"orrery/restclient/api"
)

func configMapKeys(o *api.Unstructured, _ time.Time) any {
	return int64(len(child(o.Object, "data")) + len(child(o.Object, "binaryData")))
}

func secretKeys(o *api.Unstructured, _ time.Time) any { return int64(len(child(o.Object, "data"))) }

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
