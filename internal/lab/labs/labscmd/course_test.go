package labscmd

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/labs/glossary"
	"orrery/internal/lab/labs/labtest"
	"orrery/internal/lab/labs/tour"
)

func TestTermsAreExplained(t *testing.T) {
	repository(t)
	labtest.Write(t, glossary.File, `title: {en: Glossary, zh-CN: 术语表}
intro: {en: Terms., zh-CN: 术语。}
terms:
  - {term: {en: count, zh-CN: 计数}, labs: ["04"], code: 'gear/counter.go: Counter', en: A number., zh-CN: 一个数。, not: {en: a sum, zh-CN: 和}}
  - {term: {en: counter, zh-CN: 计数器}, code: gear/counter.go, en: It counts., zh-CN: 用来计数。}
`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "count                    计数\ncounter                  计数器\n"},
		{[]string{"count"}, "count · 计数\nA number.\nNot to be confused with a sum.\nLabs: 04\ngear/counter.go:6  Counter\n"},
		{[]string{"计数器", "--lang", "zh-CN"}, "counter · 计数器\n用来计数。\ngear/counter.go:1\n"},
		{[]string{"--markdown", "--lang", "zh-CN"}, `# 术语表

[English](glossary.md)

术语。

| 术语 | 英文 | 含义 | 实验 | 代码 |
| --- | --- | --- | --- | --- |
| 计数 | count | 一个数。别和它混淆：和。 | 04 | [gear/counter.go](../../gear/counter.go): Counter |
| 计数器 | counter | 用来计数。 |  | [gear/counter.go](../../gear/counter.go) |
`},
	} {
		code, stdout, stderr := lab(t, append([]string{"glossary"}, c.args...)...)
		assert.Zero(t, code, stderr)
		assert.Equal(t, c.want, stdout)
	}
	code, _, stderr := lab(t, "glossary", "nothing")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, `the glossary has no term with "nothing"`)
}

func TestAStopOfTheTour(t *testing.T) {
	repository(t)
	labtest.Write(t, tour.File, `minutes: 3
stops:
  - {at: 'gear/counter.go: Counter.Add', look: {en: The lock., zh-CN: 看锁。}, question: {en: 'Why?', zh-CN: 为什么？}}
  - {at: 'gear/counter.go: Counter.Sub', look: {en: The end., zh-CN: 终点。}, question: {en: 'Where?', zh-CN: 哪里？}}
`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, " 1  gear/counter.go: Counter.Add\n 2  gear/counter.go: Counter.Sub\nThe whole tour takes 6 minutes. A stop: lab tour 1\n"},
		{[]string{"1"}, `Stop 1 of 2
gear/counter.go:12  Counter.Add

Add adds n.

Look for:
The lock.

Question:
Why?

Lab 04 (Counter) rebuilds this page.
Next: lab tour 2
`},
		{[]string{"1", "--lang", "zh-CN"}, "第 1 站，共 2 站\ngear/counter.go:12  Counter.Add\n\nAdd adds n.\n\n看什么：\n看锁。\n\n想一想：\n为什么？\n\n实验 04（计数器）重写的就是这一页。\n下一站：lab tour 2\n"},
	} {
		code, stdout, stderr := lab(t, append([]string{"tour"}, c.args...)...)
		assert.Zero(t, code, stderr)
		assert.Equal(t, c.want, stdout)
	}
	for argument, want := range map[string]string{
		"3": `there is no stop "3"; they are numbered from 1 to 2`, "0": `there is no stop "0"`, "x": `there is no stop "x"`,
		"2": `"gear/counter.go: Counter.Sub": the file does not declare that name`,
	} {
		code, _, stderr := lab(t, "tour", argument)
		assert.Equal(t, 2, code)
		assert.Contains(t, stderr, want)
	}
}
