package why_test

import (
	"testing"
	"time"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// This page tests the causes about other servers: aggregated APIs (C01 to C03, C22) and conversion
// webhooks (C09).

// failed makes the first type one that cannot be listed, in both samples.
func failed(code int, message string) func(*why.Evidence) {
	return func(e *why.Evidence) {
		failure := &why.Failure{Request: "GET x", Code: code, Message: message}
		e.Types[0].Failed, e.Second.Types[0].Failed = failure, failure
	}
}

func converts(e *why.Evidence) { e.Backends = []why.Backend{server(converter, 1)} }

// C01, C02 and C03: what cannot be discovered.
func TestGroupsThatCannotBeDiscovered(t *testing.T) {
	service := func(change func(*why.APIService)) func(*why.Evidence) {
		return func(e *why.Evidence) { change(&e.APIServices.Items[0]) }
	}
	backAgain := func(ago time.Duration) func(*why.Evidence) {
		return service(func(s *why.APIService) { s.Since = later.Add(-ago) })
	}
	again := func(d why.Discovery) func(*why.Evidence) {
		return func(e *why.Evidence) { e.Second.Discovery = &d }
	}
	refusedLater := again(why.Discovery{Refused: &why.Failure{Code: 500, Message: "readyz"}})
	checks := service(func(s *why.APIService) { s.Reason = "FailedDiscoveryCheck" })
	starting := func(changed time.Duration) why.Evidence { return behind(unavailable("ops"), changed, 0) }
	answers := func(changed time.Duration) why.Evidence { return with(behind(unavailable("ops"), changed, 1), checks) }
	ends := starting(time.Minute)
	ends.Backends[0].Coming = 0
	metrics := unavailable("a")
	metrics.Discovery.Failed = map[string]string{"metrics.k8s.io/v1beta1": "stale"}
	metrics.Second.Discovery = &metrics.Discovery
	metrics.APIServices.Items[0].Name, metrics.APIServices.Items[0].GroupVersion = "v1beta1.metrics.k8s.io",
		"metrics.k8s.io/v1beta1"
	metrics = conditioned(metrics, condition(discoveryFailure, api.ConditionTrue, "Discovery failed: "+
		"custom.metrics.k8s.io/v1beta1: stale GroupVersion discovery: custom.metrics.k8s.io/v1beta1", time.Hour))
	const marked = "⚠ if the add-on is uninstalled, and its API has no data of its own: delete the APIService"
	const strands = "strands what its server stores"
	const elsewhere = "run the server in another namespace, and set spec.service of the APIService to it"
	judged(t, []row{
		is("its server is down", unavailable("ops"), "C01 proven", marked, strands),
		is("its server went with the namespace", unavailable("shop"), "C02 proven", marked, strands, elsewhere),
		once("discovery was refused then", unavailable("x"), refusedLater, "C01 possible"),
		once("it could be discovered in the first sample", unavailable("x"), func(e *why.Evidence) {
			e.Discovery.Failed = nil
		}, "C01 possible", "missing: it could be discovered in the first sample"),
		once("its server came back between the samples", unavailable("x"), func(e *why.Evidence) {
			*e = behind(*e, -4*time.Second, 2)
		}, "C01 possible"),
		is("endpoints that are not ready yet", starting(time.Minute), "C01 possible", "only missing: Service ops/b "+
			"has 2 endpoints without Ready, changed 1m ago: a server may be starting"),
		is("endpoints that do not become ready", starting(time.Hour), "C01 proven"),
		is("endpoints of pods that end", ends, "C01 proven"),
		once("endpoints that may not be read", unavailable("ops"), func(e *why.Evidence) {
			e.Backends = []why.Backend{absent(*e.APIServices.Items[0].Service)}
			e.Backends[0].Failed = noRight
		}, "C01 possible"),
		is("an endpoint by now", behind(unavailable("ops"), time.Minute, 1), "C01 possible",
			"only missing: Service ops/b has 1 ready endpoint by now: discovery may follow"),
		is("an endpoint that came back a minute ago", answers(time.Minute), "C01 possible"),
		is("an endpoint that does not answer", answers(2*time.Minute), "C01 proven"),
		is("the condition names a group that ends alike", metrics, "C01 possible"),
		once("an old copy that was renewed", stale(), again(why.Discovery{}), "no C03"),
		once("discovery of an old copy was refused then", stale(), refusedLater, "C03 possible"),
		once("another reason than an old copy", stale(),
			again(why.Discovery{Failed: map[string]string{"g.io/v1": "context deadline exceeded"}}), "C03 possible"),
		once("its server came back 30 s ago", stale(), backAgain(30*time.Second), "C03 possible"),
		is("its server came back 2 min ago", with(stale(), backAgain(2*time.Minute)), "C03 proven"),
		is("an old copy without an APIService", with(stale(), noServices), "C03 proven",
			"says: discovery has g.io/v1, which is stale and has no APIService: it blocks the deletion of every "+
				"namespace\n"),
		once("an old copy while the APIServices are not known", with(stale(), noServices), func(e *why.Evidence) {
			e.APIServices.Failed = noRight
		}, "no C03"),
		once("an old copy without an APIService, which is there again", with(stale(), noServices),
			again(why.Discovery{}), "no C03"),
	})
}

func noServices(e *why.Evidence) { e.APIServices.Items = nil }

// C09: the error of a call in the answer to a list shows that a conversion webhook is down.
func TestConversionWebhooks(t *testing.T) {
	const conversion = "conversion webhook for g.io/v1, Kind=Thing failed: "
	const refusal = conversion + `Post "https://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused`
	const expired = "storage is (re)initializing: failed to list g.io/v2, Kind=Thing: " + conversion +
		"Post: x509: unknown authority"
	url := func(e *why.Evidence) {
		e.Definitions.Items[0].Converter = why.ClientConfig{URL: "https://127.0.0.1:1/"}
	}
	listed := func(message string) why.Evidence { return with(unconverted(), failed(500, message), converts) }
	const none = `"strategy":"None"`
	inside := unconverted()
	inside.Definitions.Items[0].Converter.Service = &why.Service{Namespace: "shop", Name: "guard"}
	inside.Backends = []why.Backend{absent(*inside.Definitions.Items[0].Converter.Service)}
	flaky := func(text string) why.Evidence {
		e := listed(conversion + `Post "https://b.a.svc:443/convert?timeout=30s": ` + text)
		e.Backends[0].Changed = deleted.Add(-time.Hour)
		return e
	}
	worksLater := func(e *why.Evidence) { e.Second.Types = []why.Type{typeOf("g.io", "things", object("b", "g.io/f"))} }
	const other = "storage is (re)initializing: failed to list g.io/v1, Kind=Thing: etcd: connection refused"
	judged(t, []row{
		is("a URL", with(listed(refusal), url), "C09 proven", none),
		is("a Service", listed(refusal), "C09 proven", none),
		is("a certificate", listed(expired), "C09 proven", none),
		once("a list that works", unconverted(), func(e *why.Evidence) { e.Types[0].Failed = nil }, "no C09"),
		is("a Service in the namespace, where no pod starts", inside, "C09 proven"),
		once("a list that failed once, in time", flaky("context deadline exceeded"), worksLater, "C09 possible",
			"only missing: things.g.io could be read in the second sample"),
		once("a list that failed once, by its certificate", flaky("tls: failed to verify certificate: x509: unknown"),
			worksLater, "C09 possible", "only missing: things.g.io could be read in the second sample"),
		is("a list that fails without a word of conversion", with(unconverted(), failed(429, other)), "C09 proven"),
		once("a list that fails without a word of conversion, whose server is there", with(unconverted(), failed(429,
			other)), converts, "no C09"),
		once("a list of a type without a conversion webhook", with(unconverted(), failed(429, other)),
			func(e *why.Evidence) {
				e.Definitions.Items[0].Converter.Service = nil
				e.Namespace.Conditions, e.Second = failing(other).Namespace.Conditions, nil
			}, "no C09"),
		is("while pods are left, which go first", add(unconverted(), typeOf("", "pods", object("p"))), "C09 later"),
		is("while pods are left, and another type was deleted already", add(unconverted(), typeOf("", "pods",
			object("p")), typeOf("", "services", ending(time.Second, "s"))), "C09 proven"),
	})
}

// C22: a server does not delete what it promises to.
func TestServersThatDoNotDelete(t *testing.T) {
	unexpected := func(group, resource string) string {
		return "unexpected items still remain in namespace: shop for gvr: " + group + "/v1, Resource=" + resource
	}
	things := func(group string, o why.Object) why.Evidence {
		return failing(unexpected(group, "things"), typeOf(group, "things", o))
	}
	noServer := func(group string) why.Evidence {
		e := things(group, object("a"))
		e.APIServices = refused[why.APIService]()
		return e
	}
	refuses := func(code int, message string) why.Evidence {
		e := says(plain(unread("things.example.com", "things", code, message), typeOf("", "configmaps")), message)
		e.Types[0].Failed.Right = "list things.things.example.com"
		return e
	}
	const rbac = `things.things.example.com is forbidden: User "jane" cannot list resource "things" in API group ` +
		`"things.example.com" in the namespace "shop"`
	judged(t, []row{
		is("its objects are older than the deletion", things("g.io", object("t")), "C22 proven"),
		is("its objects are younger than the deletion", things("g.io", created(time.Minute, "t")), "no C22"),
		is("the condition names a type that begins alike", failing(unexpected("g.io", "dbs"), typeOf("g.io", "db",
			object("t"))), "no C22"),
		is("a type of kube-apiserver", noServer("apps"), "C22 proven"),
		is("another server, of which nothing may be read", noServer("agg.io"), "C22 possible"),
		once("its server was changed", undeleted(),
			func(e *why.Evidence) { e.Backends[0].Changed = at.Add(3 * time.Second) }, "C22 possible"),
		once("its endpoints may not be read", undeleted(), func(e *why.Evidence) { e.Backends[0].Failed = noRight },
			"C22 possible"),
		once("its APIService may not be read", undeleted(), func(e *why.Evidence) {
			e.APIServices, e.Backends = refused[why.APIService](), nil
		}, "C22 possible"),
		is("its server refuses by itself", refuses(403, "tenant shop is suspended"), "unknown", "!found: "),
		is("kube-apiserver refuses this user", refuses(403, rbac), "no C22", "found: C30"),
	})
}
