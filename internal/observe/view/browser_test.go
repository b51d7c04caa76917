package view_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"orrery/internal/observe/view/viewtest"
)

func TestMain(m *testing.M) { viewtest.Main(m) }

// tab is a page of the browser with short names for this package's tests.
type tab struct{ *viewtest.Tab }

func openTab(t testing.TB, width, height int64) *tab {
	t.Helper()
	return &tab{viewtest.Open(t, width, height)}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) { b.T.Helper(); b.Do(steps...) }
func (b *tab) until(expression string)                    { b.T.Helper(); b.Until(expression) }
func (b *tab) press(keys string)                          { b.T.Helper(); b.Press(keys) }
func (b *tab) picture(name string)                        { b.T.Helper(); b.Picture(name) }
func (b *tab) sound()                                     { b.T.Helper(); b.Sound() }

func value[T any](b *tab, expression string) T {
	b.T.Helper()
	return viewtest.Value[T](b.Tab, expression)
}
