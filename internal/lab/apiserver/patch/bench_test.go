package patch_test

import (
	"testing"

	"orrery/internal/lab/apiserver/patch"
	"orrery/restclient/api"
)

const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default","labels":{"app":"web"},"annotations":{"a":"b"}},
	"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}},
	"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"web:1","ports":[{"containerPort":80,"protocol":"TCP"}],
	"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"100m"}},
	"livenessProbe":{"httpGet":{"path":"/","port":80},"periodSeconds":10}},{"name":"log","image":"log:1"}],"restartPolicy":"Always","volumes":[{"name":"v","emptyDir":{}}]}}}}`

// BenchmarkApply changes the image of one container of a Deployment.
func BenchmarkApply(b *testing.B) {
	for name, change := range map[api.PatchType]string{
		api.JSONPatchType:           `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"web:2"}]`,
		api.MergePatchType:          `{"metadata":{"labels":{"app":"web2"}}}`,
		api.StrategicMergePatchType: `{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:2"}]}}}}`,
	} {
		b.Run(string(name), func(b *testing.B) {
			typ, document, data := typeOf(b, "Deployment"), decode(b, deployment), []byte(change)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := patch.Apply(name, document, data, typ); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
