package why_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// This page tests the causes about webhooks and policies (C07 to C09), and about other servers (C01
// to C03, C22).

const untrusted = "tls: failed to verify certificate: x509: certificate is valid for other"

// within puts the server of each webhook into the namespace itself.
func within(e *why.Evidence) {
	inside := why.Service{Namespace: "shop", Name: "guard"}
	hooks(func(h *why.Webhook) { h.Service = &inside })(e)
	e.Backends[0].Service = inside
}

// likeLast adds a webhook like the last one, of another configuration and server.
func likeLast(e *why.Evidence, configuration string, server why.Service) {
	h := e.Webhooks.Items[1]
	h.Configuration, h.Service = configuration, &server
	e.Webhooks.Items = append(e.Webhooks.Items, h)
	e.Backends = append(e.Backends, absent(server))
}

// The error of a call is a proof although the Service has a ready endpoint.
func TestAServerOfAWebhook(t *testing.T) {
	const down = `no endpoints available for service "guard"`
	coming := func(ago time.Duration) why.Evidence {
		return with(unreachable(), func(e *why.Evidence) {
			e.Backends[0].Exists, e.Backends[0].Coming, e.Backends[0].Changed = true, 2, at.Add(-ago)
		})
	}
	judged(t, []row{
		is("no connection", posting("dial tcp 10.0.0.1:443: connect: connection refused"), "C07 proven",
			"Service guard/guard has 1 ready endpoint, and calls of it fail"),
		is("no answer in time", posting("context deadline exceeded"), "C07 proven"),
		is("it is back", calling(down), "no C07"),
		is("its endpoints are back, with the URL in the text", posting(down), "no C07"),
		is("a certificate", posting("tls: x509: certificate is not valid"), "C07 proven", "x509"),
		is("a Service without endpoints in the namespace", with(unreachable(), within), "C07 proven",
			"run: when the namespace is gone: "),
		is("a Service without an endpoint", with(unreachable(), func(e *why.Evidence) { e.Backends[0].Exists = true }),
			"C07 proven"),
		is("endpoints that are not ready yet", coming(time.Minute), "C07 possible", "only missing: Service "+
			"guard/guard has 2 endpoints without Ready, changed 1m ago: a server may be starting"),
		is("endpoints that do not become ready", coming(time.Hour), "C07 proven"),
		is("a Service that cannot be read", with(unreachable(),
			func(e *why.Evidence) { e.Backends[0].Failed = noRight }), "C07 possible", "missing: whether Service "+
			"guard/guard has a ready endpoint is not known: forbidden"),
		is("a server at a URL that is slow", with(calling(`Post "https://hooks.example.com/?timeout=10s": context `+
			`deadline exceeded`), atURL("https://hooks.example.com/")), "C07 proven"),
		is("an error as the answer of a URL", with(calling("the server could not find the requested resource"),
			atURL("https://10.0.0.1:8443/check")), "C07 proven", "says: calls of the webhook "+
			"b.example.com fail"),
	})
}

// Of several webhooks the one is named that the text is about.
func TestWhichWebhookIsNamed(t *testing.T) {
	other := func(configuration string, server why.Service) func(*why.Evidence) {
		return func(e *why.Evidence) { likeLast(e, configuration, server) }
	}
	judged(t, []row{
		is("two configurations with one name and one server", with(unreachable(), other("other", guard)),
			"C07 possible", "found: C07 possible validatingwebhookconfigurations/guard\nfound: C07 possible "+
				"validatingwebhookconfigurations/other\n",
			"only missing: 2 configurations have a webhook of that name"),
		is("two configurations with one name, of which one is up", with(unreachable(), func(e *why.Evidence) {
			likeLast(e, "healthy", why.Service{Namespace: "policy", Name: "up"})
			e.Backends[1] = server(e.Backends[1].Service, 1)
		}), "C07 possible", "only found: C07 possible validatingwebhookconfigurations/guard"),
		is("configurations of both kinds have one name", with(unreachable(), func(e *why.Evidence) {
			e.Types[0].Objects[0] = object("a", "example.com/x")
			m := hook("guard", "m.example.com", guard, rule("UPDATE", "", "configmaps"))
			m.Resource = "mutatingwebhookconfigurations"
			e.Webhooks.Items = append(e.Webhooks.Items, m)
		}), "C07 proven", "found: C07 proven validatingwebhookconfigurations/guard\nfound: C07 possible "+
			"mutatingwebhookconfigurations/guard\n"),
		is("a rule about subresources selects the objects, too", with(unreachable(), hooks(func(h *why.Webhook) {
			h.Rules = rule("DELETE", "", "configmaps/*")
		})), "C07 proven"),
		once("a namespaceSelector excludes the namespace since", unreachable(), func(e *why.Evidence) {
			e.Webhooks.Items[1].NamespaceOnly.Labels = map[string]string{"a": "b"}
		}, "no C07"),
		once("one that denied excludes the namespace since", hookDenies(), func(e *why.Evidence) {
			e.Webhooks.Items[1].NamespaceOnly.Labels = map[string]string{"a": "b"}
		}, "no C08"),
		is("one that can be called by now is told, and is no cause", with(unreachable(), func(e *why.Evidence) {
			e.Webhooks.Items = nil
		}), "no C07", "no known cause is proven: ContentFailure says ", "if that is repaired by now, the next pass "+
			"of the controller, within 1m, may succeed."),
	})
}

// The message of a webhook or a policy may quote the words of another refusal.
func TestQuotedWords(t *testing.T) {
	const calls, denies = `failed calling webhook "b.example.com": no service`,
		`admission webhook "b.example.com" denied the request: no`
	const policy = `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`
	const converts = `conversion webhook for g.io/v1, Kind=Thing failed: no`
	const x, y = `admission webhook "x.io" denied the request: `, `a is forbidden: ValidatingAdmissionPolicy 'x' ` +
		`with binding 'y' denied request: `
	const backups = `backups.velero.io is forbidden: User "system:k" cannot list resource "backups" in API group ` +
		`"velero.io" in the namespace "shop"`
	for text, ids := range map[string][]string{
		x + calls: nil, x + policy: nil, y + "see " + calls + ", " + calls: nil, y + denies: nil, x + converts: nil,
		x + backups: nil, y + backups: nil,
		`Internal error occurred: ` + calls: {"C07"}, denies: {"C08"}, `a is forbidden: ` + policy: {"C08"},
		converts: nil, backups: {"C21"},
	} {
		e, conversion := unreachable(), unconverted()
		e.Policies, e.Definitions = denied().Policies, conversion.Definitions
		e.Backends = append(e.Backends, conversion.Backends...)
		var found []string
		for _, f := range why.Judge(says(e, text)).Findings {
			found = append(found, f.ID)
		}
		assert.Equal(t, ids, found, text)
	}
	const quotes = x + "sorry, Internal error occurred: " + calls
	narrowed := func(e *why.Evidence) { e.Webhooks.Items[1].Narrowed = true }
	judged(t, []row{
		once("a webhook that is not asked about every object", says(unreachable(), quotes), narrowed, "C07 possible",
			"only missing: the webhook is not asked about every object"),
		is("a refusal of no known kind is quoted", failing(`configmaps "a" is forbidden: quota of deletions exceeded`,
			typeOf("", "configmaps", object("a"))), "unknown", "!found: ", `no known cause is proven: ContentFailure `+
			`says "Failed to delete all resource types, 1 remaining: configmaps \"a\" is forbidden: quota of `+
			`deletions exceeded"; `),
	})
}

// A server's text may begin with words of the transport.
func TestTextsOfTheTransport(t *testing.T) {
	for _, text := range []string{"context deadline exceeded", "unexpected EOF",
		`an error on the server ("") has prevented the request from succeeding (delete tables.data.io)`,
		"client rate limiter Wait returned an error: context deadline exceeded",
	} {
		refusal := text + `, configmaps is forbidden: User "u" cannot list resource "configmaps" in API group "" in ` +
			`the namespace "shop"`
		assert.Len(t, why.Refusals(failing(refusal).Namespace, "shop"), 1)
		e := says(hookDenies(), `admission webhook "b.example.com" denied the request: no, `+text)
		assert.Equal(t, "the webhook b.example.com denies the deletion: no", find(why.Judge(e), "C08").Says, text)
	}
}

// What was changed after the condition was written may have repaired it: the next pass shows.
// After two passes with the same condition it did not.
func TestAnObstacleThatWasChangedSince(t *testing.T) {
	for name, test := range map[string]struct {
		e       why.Evidence
		id      string
		changed func(*why.Evidence) *time.Time
	}{
		"a webhook's configuration":     {unreachable(), "C07", changedHook},
		"the pods behind a webhook":     {posting("dial tcp: connect: connection refused"), "C07", changedServer},
		"the configuration that denies": {hookDenies(), "C08", changedHook},
		"a policy":                      {denied(), "C08", changedPolicy(0)},
		"the binding of a policy":       {denied(), "C08", changedPolicy(1)},
		"a label that a policy reads":   {denied(), "C08", changedLabels},
		"a label that a webhook reads":  {hookDenies(), "C08", changedLabels},
	} {
		for ago, want := range map[time.Duration]string{
			30 * time.Second: " possible", // after the condition, and before the next pass
			3 * time.Minute:  " proven",   // the controller has come back since
			6 * time.Minute:  " proven",   // before the condition
		} {
			e := with(test.e, func(e *why.Evidence) { writtenBy(e, "kube-controller-manager", 5*time.Minute) })
			*test.changed(&e) = at.Add(-ago)
			got, lines := told(why.Judge(e), test.id)
			assert.Equal(t, test.id+want, got, "%s was changed %s ago: %s", name, ago, lines)
		}
		e := with(test.e, func(e *why.Evidence) { writtenBy(e, "kube-controller-manager", 0) })
		*test.changed(&e) = at.Add(-time.Second)
		got, _ := told(why.Judge(e), test.id)
		assert.Equal(t, test.id+" proven", got, "%s: the condition is younger", name)
	}
}

func changedHook(e *why.Evidence) *time.Time   { return &e.Webhooks.Items[1].Changed }
func changedServer(e *why.Evidence) *time.Time { return &e.Backends[0].Changed }
func changedLabels(e *why.Evidence) *time.Time { return &e.Second.Namespace.Changed }

func changedPolicy(i int) func(*why.Evidence) *time.Time {
	return func(e *why.Evidence) *time.Time { return &e.Policies.Items[i].Changed }
}

// What may have been repaired, between the samples or shortly before, is not proven.
func TestAnObstacleThatMayBeRepaired(t *testing.T) {
	writtenBefore := func(ago time.Duration) func(*why.Evidence) {
		return func(e *why.Evidence) {
			writtenBy(e, "kube-controller-manager", ago)
			e.Namespace.Writers = e.Second.Namespace.Writers
		}
	}
	serverChanged := func(ago time.Duration) func(*why.Evidence) {
		return func(e *why.Evidence) { e.Backends[0].Changed = at.Add(-ago) }
	}
	answers := func() why.Evidence { return calling("the server could not find the requested resource") }
	again := func(change func(first, second *why.Object)) func(*why.Evidence) {
		return func(e *why.Evidence) {
			first, second := e.Types[0].Objects[0], e.Types[0].Objects[0]
			change(&first, &second)
			e.Types[0].Objects, e.Second.Types[0].Objects = []why.Object{first}, []why.Object{second}
		}
	}
	events := typeOf("", "events", object("e"))
	events.Count = 300
	leases := func(version string) why.Type {
		o := object("l")
		o.ResourceVersion = version
		return typeOf("coordination.k8s.io", "leases", o)
	}
	rewritten := func(first, second why.Type) func(*why.Evidence) {
		return func(e *why.Evidence) {
			e.Policies.Items[0].Rules = rule("DELETE", "*", "*")
			e.Types, e.Second.Types = append(e.Types, first), append(e.Second.Types, second)
		}
	}
	twice := func(second why.Type) why.Evidence {
		e := denied()
		e.Types[0] = typeOf("", "configmaps", object("a"), object("b"))
		e.Second.Types = []why.Type{second}
		return e
	}
	dead := func(e why.Evidence) why.Evidence { // its Lease expired too lately for a proof of that
		return managed(with(e, writtenBefore(6*time.Minute)), 5*time.Minute, why.Manager{Name: "kcm"})
	}
	failed := unread("", "configmaps", 500, "no")
	judged(t, []row{
		once("pods that came 30 s ago", answers(), serverChanged(30*time.Second), "C07 possible"),
		once("pods that came 80 s ago", answers(), serverChanged(80*time.Second), "C07 possible"),
		is("pods that came before two passes", with(answers(), serverChanged(3*time.Minute)), "C07 proven"),
		once("a change in the second of the condition", with(unreachable(), writtenBefore(30*time.Second)),
			func(e *why.Evidence) { e.Webhooks.Items[1].Changed = at.Add(-30 * time.Second) }, "C07 possible"),
		once("the namespace was excluded between the samples", with(unreachable(), func(e *why.Evidence) {
			e.Webhooks.Items[1].NamespaceOnly.Expressions = []why.Expression{{Key: "skip", Operator: "DoesNotExist"}}
		}), func(e *why.Evidence) {
			e.Second.Namespace.Labels, e.Second.Namespace.ResourceVersion = map[string]string{"skip": "yes"}, "8"
			e.Second.Namespace.Changed = at.Add(5 * time.Second)
		}, "no C07"),
		once("a server with an expired certificate was restarted", with(posting(untrusted), writtenBefore(time.Minute)),
			serverChanged(0), "C07 possible"),
		once("a pass that began before the repair", with(posting("context deadline exceeded"),
			writtenBefore(15*time.Second)), serverChanged(20*time.Second), "C07 possible"),
		once("a change after the last pass of a controller that is dead", dead(denied()), func(e *why.Evidence) {
			e.Policies.Items[0].Changed = at.Add(-4 * time.Minute)
		}, "C08 possible", "missing: policy p was changed 4m10s ago: the next pass of the controller may succeed"),
		is("a change before the last pass of a controller that is dead", with(dead(denied()), func(e *why.Evidence) {
			e.Policies.Items[0].Changed = at.Add(-7 * time.Minute)
		}), "C08 proven"),
		once("a label was removed between the samples", with(denied(), writtenBefore(time.Minute)), again(func(_,
			second *why.Object) {
			second.ResourceVersion = "120"
		}), "C08 possible"),
		once("a label was removed after the conditions", denied(), again(func(first, second *why.Object) {
			first.ResourceVersion, second.ResourceVersion = "8", "8"
		}), "C08 possible", "only missing: configmaps/a was written or removed after the conditions: the next pass "+
			"of the controller may succeed"),
		is("a resourceVersion that is no number", with(denied(), func(e *why.Evidence) {
			e.Types[0].Objects[0].ResourceVersion = "opaque"
		}), "C08 proven"),
		is("Leases, which are renewed", with(denied(), rewritten(leases("100"), leases("101"))),
			"C08 proven"),
		is("events, which expire", with(denied(), rewritten(events, events)), "C08 proven"),
		once("denied objects that were not kept", denied(), func(e *why.Evidence) { e.Types[0].Count = 150 },
			"C08 possible", "only missing: not all configmaps were looked at: one may have been changed since"),
		is("all denied objects are there", twice(typeOf("", "configmaps", object("a"), object("b"))), "C08 proven"),
		is("one denied object has gone", twice(typeOf("", "configmaps", object("b"))), "C08 possible",
			"only missing: configmaps/a was written or removed after the conditions: the next pass of the controller "+
				"may succeed"),
		is("all denied objects have gone", twice(typeOf("", "configmaps")), "no C08"),
		is("none was counted", twice(failed), "C08 proven"),
		once("the namespace of a denial is gone", denied(), func(e *why.Evidence) { e.Second.Namespace = nil },
			"absent",
			"!found: "),
		once("the namespace of a failed call is gone", unreachable(),
			func(e *why.Evidence) { e.Second.Namespace = nil },
			"absent", "!found: "),
	})
}

// What a policy says, and which policy decides.
func TestPolicies(t *testing.T) {
	const deny = `is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `
	said := func(text string) why.Evidence {
		return says(denied(), `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' `+text)
	}
	others := why.Selector{Labels: map[string]string{"team": "b"}}
	judged(t, []row{
		is("its expression fails", said("with binding 'b' denied request: expression 'object.x' resulted in error: "+
			"no such key: x"), "C08 proven"),
		is("its kind of parameter is unknown", said("denied request: failed to configure policy: paramKind kind "+
			"'g.io/v1, Kind=Limit' not known"), "C08 proven"),
		is("it asks for something", denied(), "C08 proven"),
		is("it asks for several things, one after the other", says(denied(), `configmaps "a" `+deny+`annotate it `+
			`first, configmaps "b" `+deny+`empty it, the server says so`), "C08 proven",
			"only found: C08 proven validatingadmissionpolicies/p"),
		once("its binding was removed since", denied(),
			func(e *why.Evidence) { e.Policies.Items = e.Policies.Items[:1] }, "no C08"),
		once("it was removed since", denied(), func(e *why.Evidence) { e.Policies.Items = e.Policies.Items[1:] },
			"no C08"),
		once("it leaves the namespace out since", denied(), func(e *why.Evidence) {
			e.Policies.Items[0].NamespaceOnly = others
		}, "no C08"),
	})
}

// A webhook without a server that is asked about updates keeps the finalizers of others, which no
// condition reports.
func TestAWebhookThatNoConditionNames(t *testing.T) {
	update := func(change func(*why.Evidence)) why.Evidence {
		e := calm(held(workload("deployment", "ops", "keda-operator", 1)))
		rules := rule("UPDATE", "keda.sh", "scaledobjects")
		e.Webhooks = answered("GET webhooks", hook("guard", "guard.io", guard, rules))
		e.Backends = []why.Backend{absent(guard)}
		return with(e, change)
	}
	none := func(*why.Evidence) {}
	rules := func(operation, resource string) func(*why.Evidence) {
		return hooks(func(h *why.Webhook) { h.Rules = rule(operation, "*", resource) })
	}
	judged(t, []row{is("it keeps the finalizers of others", update(none), "C07 possible", "found: C07 possible "+
		"validatingwebhookconfigurations/guard", "says: the webhook guard.io cannot be reached, so "+
		"finalizer.keda.sh cannot be removed from scaledobjects.keda.sh"),
		once("its server is up", update(none), func(e *why.Evidence) { e.Backends[0] = server(guard, 1) }, "no C07"),
	})
	for name, change := range map[string]func(*why.Evidence){
		"its failures are ignored": hooks(func(h *why.Webhook) { h.FailurePolicy = "Ignore" }),
		"another type":             rules("UPDATE", "topics"),
		"deletions":                rules("DELETE", "scaledobjects"),
		"a URL was not called":     atURL("https://10.0.0.1/"),
		"another selector": hooks(func(h *why.Webhook) {
			h.NamespaceOnly.Labels = map[string]string{"a": "b"}
		}),
	} {
		e := update(change)
		assert.Nil(t, find(why.Judge(e), "C07"), name)
		assert.Empty(t, e.KeptBy(e.Webhooks.Items[0]), "its Service is not read: %s", name)
	}
}

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
		}, "C01 possible", "missing: it could be discovered in the first sample", "!proof 1: /apis",
			"proof 2: /apis: stale"),
		is("two reasons", with(unavailable("x"), again(why.Discovery{Failed: map[string]string{"g.io/v1": "EOF"}})),
			"C01 proven", "proof 1: /apis: stale GroupVersion discovery: g.io/v1\n"),
		once("its server was never asked", unavailable("x"), service(func(s *why.APIService) { s.Available = "" }),
			"C01 possible", "only missing: APIService v1.g.io has no condition Available yet"),
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
		is("an old copy in both samples", stale(), "C03 proven", "proof 2: /apis: still stale"),
		once("discovery of an old copy was refused then", stale(), refusedLater, "C03 possible", "!proof 2: "),
		once("one sample of an old copy", stale(), func(e *why.Evidence) { e.Second = nil }, "C03 possible",
			"!proof 2: "),
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
