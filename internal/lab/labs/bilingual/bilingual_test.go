package bilingual

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const english = "# A queue\n\n[中文](a.zh-CN.md)\n\n![A picture](a.svg)\n\n## Add\n\nCall `Add`, then `Get`: [more](b.md#the-end).\n\n- One\n- Two\n\n" +
	"```\n$ go test\n```\n\n### Tables\n| word | code |\n|---|---|\n| key | [a.go](../a.go): `Add` |\n| value | `Get` |\n"

const chinese = "# 队列\n\n[English](a.md)\n\n![图](a.zh-CN.svg)\n\n## 加入\n\n[更多](b.zh-CN.md#结尾)：`Get` 之前先 `Add`，再 `Get`。\n\n- 一\n- 二\n\n" +
	"```\n$ go test\n```\n\n### 表\n| 词 | 代码 |\n|---|---|\n| 键 | [a.go](../a.go)：`Add` |\n| 值 | `Get` |\n"

// A translation may order a sentence as its language does, and lead to translated pages.
func TestATranslationAgrees(t *testing.T) {
	page := Parse(chinese)
	assert.Empty(t, Differences(Parse(english), page))
	assert.Equal(t, []string{"加入"}, page.Titles(2))
	assert.Equal(t, "- 一\n- 二", strings.TrimSpace(page.Section("加入"))[len("[更多](b.zh-CN.md#结尾)：`Get` 之前先 `Add`，再 `Get`。\n\n"):])
	assert.Empty(t, page.Section("加"))
	assert.Equal(t, []Heading{{1, "队列"}, {2, "加入"}, {3, "表"}}, page.Headings)
}

func TestDifferencesAreFound(t *testing.T) {
	for name, c := range map[string]struct{ find, replace, want string }{
		"a heading is missing":      {"### 表\n", "", "headings of other levels: [1 2 3] and [1 2]"},
		"a heading of other level":  {"### 表", "## 表", "headings of other levels: [1 2 3] and [1 2 2]"},
		"code in a heading":         {"### 表", "### `表`", "Tables: inline code differ: only English [], only Chinese [\"`表`\"]"},
		"another command":           {"$ go test", "$ go vet", "different code blocks: \"```\\n$ go test\\n\" and \"```\\n$ go vet\\n\""},
		"another kind of block":     {"```\n$", "```go\n$", "different code blocks"},
		"a block is missing":        {"```\n$ go test\n```\n", "", "different code blocks: 1 and 0"},
		"inline code is missing":    {"先 `Add`", "先加入", "Add: inline code differ: only English [\"`Add`\"], only Chinese []"},
		"inline code is translated": {"再 `Get`", "再 `取`", "Add: inline code differ: only English [], only Chinese [\"`取`\"]"},
		"a link leads elsewhere":    {"b.zh-CN.md", "c.md", "Add: links differ"},
		"a picture is missing":      {"![图](a.zh-CN.svg)", "", "A queue: links differ: only English [\"a.svg\"]"},
		"an item is missing":        {"- 二\n", "", "Add: the lists have 2 and 1 items"},
		"a row is missing":          {"| 值 | `Get` |\n", "", "Tables: the tables have other shapes"},
		"a table is missing":        {"| 词 | 代码 |\n|---|---|\n| 键 | [a.go](../a.go)：`Add` |\n| 值 | `Get` |\n", "[a.go](../a.go)：`Add`、`Get`", "Tables: the tables have other shapes: 4 and 0 rows"},
		"a cell is missing":         {"| 值 | `Get` |", "| 值 `Get` |", "Tables: the tables have other shapes"},
		"cells are exchanged":       {"| 值 | `Get` |", "| `Get` | 值 |", "Tables: the cells of a table differ"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Contains(t, chinese, c.find)
			problems := Differences(Parse(english), Parse(strings.Replace(chinese, c.find, c.replace, 1)))
			assert.Contains(t, strings.Join(problems, "\n"), c.want)
		})
	}
}
