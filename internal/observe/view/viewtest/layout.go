package viewtest

// Outside returns what does not fit: the page, a box whose rows are higher than it, a heading.
const Outside = `[
	document.documentElement.scrollHeight > innerHeight || document.documentElement.scrollWidth > innerWidth ? "the page scrolls" : "",
	...[...document.querySelectorAll(".box")].map(b => b.getBoundingClientRect()).map(r => r.bottom > innerHeight || r.right > innerWidth ? "a box is outside" : ""),
	...[...document.querySelectorAll(".row1 .body, .row2 .body")].map(b => b.scrollHeight > b.clientHeight + 1 ? b.parentElement.className + " is too high: " + b.scrollHeight + " > " + b.clientHeight : ""),
	...[...document.querySelectorAll(".guide, .guide > div")].map(e => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().bottom > e.closest(".guide").getBoundingClientRect().bottom ? "the guide is too full: " + e.innerText : ""),
	...[...document.querySelectorAll("h2, .head button, .time button")].map(e => e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > innerWidth ? e.innerText + " is too wide" : ""),
].filter(x => x)`

// Faint returns the texts with a contrast of less than 4.5 on their ground.
const Faint = `(() => {
	const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
	const rgb = c => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
	const light = c => { const [r, g, b] = c.map(x => x / 255).map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255]; };
	const found = new Set();
	const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
	for (let node; node = texts.nextNode();) {
		const e = node.parentElement;
		if (!node.data.trim() || e.closest("title, .dim") || !e.getClientRects().length) continue;
		const style = getComputedStyle(e), ink = rgb(e.closest("svg") ? style.fill : style.color).slice(0, 3);
		const [a, b] = [light(ink), light(ground(e).slice(0, 3))].sort((x, y) => y - x);
		const contrast = (a + 0.05) / (b + 0.05);
		if (contrast < 4.5) found.add(node.data.trim() + " " + contrast.toFixed(2));
	}
	return [...found];
})()`
