package schema_test

import (
	"testing"

	"orrery/internal/lab/apiserver/schema"
)

const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default","labels":{"app":"web"},"annotations":{"a":"b"}},
	"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}},
	"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"web:1","ports":[{"containerPort":80,"protocol":"TCP"}],
	"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"100m"}},
	"livenessProbe":{"httpGet":{"path":"/","port":80},"periodSeconds":10}},{"name":"log","image":"log:1"}],"restartPolicy":"Always","volumes":[{"name":"v","emptyDir":{}}]}}}}`

func BenchmarkCheck(b *testing.B) {
	t, tree := typeOf(b, "apps/v1", "Deployment"), decode(b, deployment)
	b.ReportAllocs()
	for b.Loop() {
		if findings := t.Check(tree); findings.TypeError != nil || findings.Unknown != nil {
			b.Fatal(findings)
		}
	}
}

func BenchmarkDuplicates(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(deployment)))
	for b.Loop() {
		if found := schema.Duplicates([]byte(deployment)); found != nil {
			b.Fatal(found)
		}
	}
}

// BenchmarkOpenAPIV3Index measures what a change of the served resources costs.
func BenchmarkOpenAPIV3Index(b *testing.B) {
	resources := catalogue(b)
	b.ReportAllocs()
	for b.Loop() {
		schema.OpenAPIV3Index(resources)
	}
}
