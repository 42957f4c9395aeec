package browser_test

import (
	"fmt"
	"strings"
	"testing"
)

// view is the page as a person sees it, in figures.
type view struct {
	Headline, Class, Text     string
	Background                string
	ClientWidth, ScrollWidth  int
	Texts                     int // that were looked at
	Contrast                  float64
	LeastOf                   string // the text with the least contrast
	ClippedText, ClippedWhere string // a text that leaves the screen
}

// measure unfolds the page and returns a view. Contrast is that of WCAG 2.2,
// of each text with the first background behind it.
const measure = `(() => {
	for (const d of document.querySelectorAll("details")) [d.name, d.open] = ["", true]
	const luminance = color => {
		const [r, g, b] = color.match(/[\d.]+/g).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		return 0.2126 * r + 0.7152 * g + 0.0722 * b
	}
	const behind = e => {
		for (; e; e = e.parentElement) {
			const color = getComputedStyle(e).backgroundColor
			if (color !== "rgba(0, 0, 0, 0)") return color
		}
		return "rgb(255, 255, 255)"
	}
	const view = {texts: 0, contrast: 21, leastOf: "", clippedText: "", clippedWhere: ""}
	const look = (e, text, color) => {
		view.texts++
		const [dark, light] = [luminance(color), luminance(behind(e))].sort((a, b) => a - b)
		const contrast = (light + 0.05) / (dark + 0.05)
		if (contrast < view.contrast) [view.contrast, view.leastOf] = [contrast, text]
	}
	for (const e of document.body.querySelectorAll("*")) {
		if (!e.checkVisibility()) continue
		const label = getComputedStyle(e, "::before")
		if (label.content !== "none") look(e, label.content, label.color)
		const text = [...e.childNodes].filter(n => n.nodeType === Node.TEXT_NODE).map(n => n.data.trim()).join(" ").trim()
		if (!text) continue
		look(e, text, getComputedStyle(e).color)
		const box = e.getBoundingClientRect()
		if (box.left < 0 || box.right > document.documentElement.clientWidth) [view.clippedText, view.clippedWhere] = [text, box.left + " to " + box.right]
	}
	const headline = document.querySelector(".state")
	return Object.assign(view, {
		headline: headline?.innerText ?? "", class: headline?.classList[1] ?? "", text: document.body.innerText,
		background: getComputedStyle(document.body).backgroundColor,
		clientWidth: document.documentElement.clientWidth, scrollWidth: document.documentElement.scrollWidth,
	})
})()`

// wantReadable fails the test unless the page is as wide as the screen, and its
// texts stand out.
func (v *view) wantReadable(t *testing.T, width int) {
	t.Helper()
	if v.ClientWidth != width {
		t.Errorf("the page is laid out for %d px, want %d", v.ClientWidth, width)
	}
	if v.ScrollWidth > v.ClientWidth {
		t.Errorf("the page is %d px wide, of which %d are seen", v.ScrollWidth, v.ClientWidth)
	}
	if v.ClippedText != "" {
		t.Errorf("%.60q goes from %s px", v.ClippedText, v.ClippedWhere)
	}
	if v.Texts < 3 {
		t.Errorf("only %d texts", v.Texts)
	}
	if v.Contrast < 4.5 {
		t.Errorf("contrast %.2f, of %.60q, want 4.5", v.Contrast, v.LeastOf)
	}
}

// wantInEachLook opens the page on a phone and on a wide screen, in light and in
// dark. Each must have this state and headline, and show all texts.
func (tab *tab) wantInEachLook(address, class, headline string, texts ...string) {
	tab.t.Helper()
	for _, width := range []int{390, 1400} {
		backgrounds := map[string]string{}
		for _, scheme := range []string{"light", "dark"} {
			tab.subtest(fmt.Sprintf("%d px, %s", width, scheme), func() {
				tab.look(int64(width), scheme)
				tab.opens(address)
				v := run[view](tab, measure)
				v.wantReadable(tab.t, width)
				if v.Class != class || v.Headline != headline {
					tab.t.Errorf("the page says %s: %q, want %s: %q", v.Class, v.Headline, class, headline)
				}
				for _, text := range texts {
					if !strings.Contains(v.Text, text) {
						tab.t.Errorf("the page does not say %q:\n%s", text, v.Text)
					}
				}
				backgrounds[scheme] = v.Background
			})
		}
		if backgrounds["light"] == backgrounds["dark"] {
			tab.t.Errorf("%d px: the background is %s in light and in dark", width, backgrounds["light"])
		}
	}
}
