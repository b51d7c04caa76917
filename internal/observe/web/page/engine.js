// The connection of the page to its worker and, in a live run, to the server. Both give it what the page shows.

// startWorker starts reader.js. A page that is one file has no address for it, and a browser refuses modules from a blob: there
// the modules become one script.
function startWorker() {
  const address = import.meta.resolve("orrery/reader.js");
  if (!address.startsWith("data:")) return new Worker(address, { type: "module" });
  const source = ["state.js", "summary.js", "reader.js"].map(name => decode(import.meta.resolve("orrery/" + name)).replace(/^import .*$/gm, "").replace(/^export /gm, "")).join("\n");
  return new Worker(URL.createObjectURL(new Blob([`(() => {\n${source}\n})();`], { type: "text/javascript" })));
}

const decode = address => new TextDecoder().decode(bytes(address.slice(address.indexOf(",") + 1)));
const bytes = base64 => Uint8Array.from(atob(base64), c => c.charCodeAt(0));

const token = () => new URLSearchParams(location.search).get("token");

// Engine calls update with each new view, and tell with {kind, reason} when something happens.
export class Engine {
  #worker = startWorker();
  #socket = null;

  constructor(update, tell) {
    this.tell = tell;
    this.#worker.onmessage = ({ data }) => {
      if (data.kind === "view") update(data); else tell(data);
    };
    this.#worker.onerror = event => tell({ kind: "failed", reason: event.message });
  }

  ask(op, values = {}) { this.#worker.postMessage({ op, ...values }); }

  // open reads a recording, a {blob} or what the server has at an {address}.
  open(source) { this.ask("open", source); }

  // start shows what the page was opened for: the recording inside it, the server's recording, or the server's run.
  start() {
    const inside = document.getElementById("recording");
    if (inside) this.open({ blob: new Blob([bytes(inside.textContent)]) });
    else if (!token()) return;
    else if (new URLSearchParams(location.search).has("recording")) this.open({ address: new URL("recording?token=" + token(), location.href).href });
    else this.#connect();
  }

  // functions returns a promise of the function of each event, for a set of gears; {} if they are not known here.
  async functions(gears) {
    const inside = document.getElementById("code");
    if (inside) return JSON.parse(inside.textContent) ?? {};
    if (!token()) return {};
    try {
      const answer = await fetch("code?" + new URLSearchParams({ token: token(), gears }));
      return answer.ok ? await answer.json() : {};
    } catch { return {}; } // the process has gone
  }

  #connect() {
    const address = new URL("socket?token=" + token(), location.href);
    address.protocol = "ws:";
    const socket = this.#socket = new WebSocket(address);
    let began = false;
    socket.onmessage = ({ data }) => {
      if (data.startsWith('{"control":')) { this.tell({ kind: "control", ...JSON.parse(data).control }); return; }
      if (!began) this.ask("begin");
      began = true;
      this.ask("text", { text: data });
    };
    socket.onclose = event => {
      if (began) this.ask("closed"); else this.tell({ kind: "refused", reason: event.reason });
    };
  }

  // command asks the server to hold the run or to let it go on.
  command(values) { if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(values)); }
}
