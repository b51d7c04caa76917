package plot

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rgb is a colour in linear light, 0 to 1.
type rgb [3]float64

func parseColor(t *testing.T, text string) rgb {
	t.Helper()
	var c rgb
	for i := range c {
		v, err := strconv.ParseUint(text[1+2*i:3+2*i], 16, 8)
		require.NoError(t, err)
		c[i] = float64(v) / 255
		if c[i] <= 0.04045 {
			c[i] /= 12.92
		} else {
			c[i] = math.Pow((c[i]+0.055)/1.055, 2.4)
		}
	}
	return c
}

func (c rgb) luminance() float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// contrast is that of WCAG 2: 1 to 21.
func contrast(a, b rgb) float64 {
	high, low := max(a.luminance(), b.luminance()), min(a.luminance(), b.luminance())
	return (high + 0.05) / (low + 0.05)
}

// seen is a colour as somebody with a colour vision deficiency sees it (Machado, Oliveira and Fernandes 2009, severity 1).
func (c rgb) seen(m [3]rgb) rgb {
	var out rgb
	for i := range out {
		for j := range c {
			out[i] += m[i][j] * c[j]
		}
	}
	return out
}

// lab is the colour in CIELAB, in which distances are what the eye makes of them.
func (c rgb) lab() rgb {
	f := func(v float64) float64 {
		if v > 216.0/24389 {
			return math.Cbrt(v)
		}
		return (24389.0/27*v + 16) / 116
	}
	x := f((0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.9505)
	y := f(c.luminance())
	z := f((0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.089)
	return rgb{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func distance(a, b rgb) float64 {
	var sum float64
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum)
}

var visions = map[string][3]rgb{
	"usual":        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// Series can be seen on their paper, and texts be read: WCAG 2 asks for 3 and 4.5.
func TestContrast(t *testing.T) {
	for _, side := range []func(ink) string{func(i ink) string { return i.light }, func(i ink) string { return i.dark }} {
		background := parseColor(t, side(paper))
		for _, i := range palette {
			assert.GreaterOrEqual(t, contrast(parseColor(t, side(i)), background), 3.0, side(i))
		}
		for _, i := range []ink{black, gray} {
			assert.GreaterOrEqual(t, contrast(parseColor(t, side(i)), background), 4.5, side(i))
		}
	}
}

// Nobody has to guess which of the first four series it is: their colours are far apart for every kind of colour vision.
func TestColorsCanBeToldApart(t *testing.T) {
	for name, vision := range visions {
		for _, side := range []func(ink) string{func(i ink) string { return i.light }, func(i ink) string { return i.dark }} {
			for i, a := range palette[:4] {
				for _, b := range palette[:i] {
					d := distance(parseColor(t, side(a)).seen(vision).lab(), parseColor(t, side(b)).seen(vision).lab())
					assert.Greater(t, d, 20.0, "%s: %s and %s", name, side(a), side(b))
				}
			}
		}
	}
}
