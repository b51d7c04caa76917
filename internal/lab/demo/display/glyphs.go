package display

// Glyphs are the letters that pictures are made of. Each is one column wide.
type Glyphs struct {
	Full, Empty string // of bars
	Busy, Idle  string // workers
	Rule, Post  string
	Now, More   string
	Arrow       string
}

// Unicode are the glyphs for terminals that show them, which is nearly all.
var Unicode = Glyphs{Full: "█", Empty: "░", Busy: "●", Idle: "○", Rule: "─", Post: "│", Now: "▸", More: "…", Arrow: "→"}

// ASCII are the glyphs for the others.
var ASCII = Glyphs{Full: "#", Empty: ".", Busy: "*", Idle: "o", Rule: "-", Post: "|", Now: ">", More: "~", Arrow: ">"}
