// The page: what is on it, and the time that passes.

const SPEEDS = [0.5, 1, 2, 4, 8, 16, 30]; // steps in a second
const LEAP = 10;
const FAST = 8; // from here on drawings jump instead of gliding

const byId = (id) => document.getElementById(id);

class Panel {
  constructor(host, side, title, hidden) {
    this.side = side;
    const figure = make("figure", { class: "panel" }, host);
    const caption = make("figcaption", {}, figure);
    make("b", { text: title }, caption);
    this.count = make("span", { class: "count" }, caption);
    this.host = make("div", {}, figure);
    this.title = title;
    this.stage = new (side.recording.at ? GraphStage : ArrayStage)(this.host, side, hidden);
  }

  // Drawings are made for the room there is, so that text is never scaled.
  fit() {
    const width = Math.floor(this.host.clientWidth);
    if (!width || width === this.width) return false;
    this.width = width;
    this.stage.build(width);
    return true;
  }

  show(t) {
    const { recording, predicted } = this.side;
    const shown = Math.min(t, recording.steps - 1);
    this.stage.show(shown);
    let text = t > shown ? `ended at step ${shown}` : "";
    if (predicted) {
      const flaws = recording.hints.reduce((sum, field) => sum + this.side.countWrong(field, shown), 0);
      text = shown === 0 ? "given" : flaws ? `✕ ${plural(flaws, "value")} wrong` : "all right";
      this.count.classList.toggle("wrong", flaws > 0);
    }
    setText(this.count, text);
    set(this.stage.root, "aria-label", `${this.title}, step ${shown}${text && `, ${text}`}`);
  }
}

function legend(host, stage, hidden, redraw) {
  const list = make("ul", { class: "legend" });
  for (const { field, look, choice, words } of stage.legend()) {
    const item = make("li", {}, list);
    if (words) {
      item.textContent = `${field.name}: ${words}`;
      continue;
    }
    const box = choice ? make("label", {}, item) : item;
    if (choice) {
      const tick = make("input", { type: "checkbox" }, box);
      tick.checked = !hidden.has(field.name);
      tick.addEventListener("change", () => {
        hidden[tick.checked ? "delete" : "add"](field.name);
        redraw();
      });
    }
    const line = !look.startsWith("node");
    const icon = svg("svg", { width: 22, height: 14, class: line ? "" : "node", "aria-hidden": "true" }, box);
    const own = look.replace("node ", "");
    if (line) svg("path", { class: own, d: "M1 7H20" }, icon);
    else svg("circle", { class: own, cx: 11, cy: 7, r: 5.5 }, icon);
    make("span", { text: own.includes("c1") ? `${field.name}: white 0, grey 1, black 2` : field.name }, box);
  }
  if (list.children.length) host.append(list);
}

class Section {
  constructor(host, recording, title, alone, redraw) {
    const root = make("section", { class: "recording" }, host);
    const left = make("div", {}, root);
    const right = make("div", {}, root);
    if (!alone) make("h2", { text: title }, left);
    const guessed = recording.hints.some((field) => field.guess);
    root.classList.toggle("beside", alone && !guessed);
    const panels = make("div", { class: "panels" }, left);
    const drawn = recording.hints.filter((f) => isNode(f) && POINTERS.has(f.kind) && f.name !== "pred_h");
    const hidden = new Set(drawn.slice(1).map((field) => field.name));
    const titles = guessed ? ["True", "Predicted"] : ["Steps"];
    this.panels = titles.map((name, k) => new Panel(panels, new Side(recording, k === 1), name, hidden));
    legend(left, this.panels[0].stage, hidden, redraw);
    this.parts = [];
    this.fields(right, recording, recording.hints.filter((field) => !field.still), "Hints");
    this.still(right, recording, recording.hints.filter((field) => field.still));
    this.fields(right, recording, recording.outputs, "Answer");
    this.maps = this.parts.filter((part) => part instanceof PairMap);
  }

  fields(host, recording, fields, title) {
    const given = title === "Hints" ? recording.inputs : [];
    const single = [...given, ...fields].filter(isSingle);
    const nodes = [...given, ...fields].filter(isNode);
    const pairs = fields.filter(isPair);
    if (single.length + nodes.length + pairs.length === 0) return;
    make("h3", { text: title === "Hints" ? "Input and hints" : title }, host);
    if (single.length) this.parts.push(new Values(host, recording, single));
    if (nodes.length) this.parts.push(new NodeTable(host, recording, nodes, title));
    if (pairs.length === 0) return;
    const maps = make("div", { class: "maps" }, host);
    for (const field of pairs) this.parts.push(new PairMap(maps, recording, field));
  }

  still(host, recording, fields) {
    if (fields.length === 0) return;
    const details = make("details", {}, host);
    make("summary", { text: `Hints that no step changes: ${fields.map((f) => f.name).join(", ")}` }, details);
    this.fields(details, recording, fields, "As given");
  }

  show(t) {
    for (const part of [...this.panels, ...this.parts]) part.show(t);
  }
}

class Player {
  constructor(header, recordings) {
    this.line = recordings[0].line;
    this.until = recordings[1]?.until;
    this.steps = Math.max(...recordings.map((recording) => recording.steps));
    this.t = 0;
    this.speed = this.steps > 300 ? 8 : 2;
    const redraw = () => this.show();
    const titles = ["The input", "Its view"];
    this.sections = recordings.map(
      (recording, k) => new Section(byId("recordings"), recording, titles[k], recordings.length === 1, redraw),
    );
    this.tellAbout(header, recordings);
    this.drawLine();
    this.connect();
    this.fit();
    byId("deck").hidden = false;
  }

  tellAbout(header, [first, view]) {
    const thing = first.at ? "node" : "item";
    const parts = [`${plural(first.nodes, thing)}, ${plural(first.steps, "step")}`];
    if (header.source) parts.push(`predicted by ${header.source}`);
    if (view) {
      parts.push(`beside its view of ${plural(view.nodes, thing)}, new ones marked +`);
      parts.push(`in training its steps count as the input's up to step ${view.until}, the dashed line`);
    }
    byId("about").textContent = parts.join("; ");
    const timeline = { accuracy: "the share of right values", changes: "how many values each step changes" };
    byId("help").textContent += ` The timeline shows ${timeline[this.line.of]}.`;
    const notes = header.notes.map((note) => `${note[0].toUpperCase()}${note.slice(1)}.`);
    if (this.line.of === "accuracy") {
      notes.push(
        "✕ marks what is wrong, paler is less sure, underlined has just changed. Step 0 is given to " +
          "the network. The share of right values is the mean over hints; numbers are not judged.",
      );
    } else if (header.source) {
      notes.push("This network shows no hints, only its answer.");
    }
    const lost = { guess: "predictions", sure: "confidences" };
    for (const what of header.left_out) {
      notes.push(`To keep this page small, ${lost[what]} of hints over pairs of nodes are left out.`);
    }
    for (const text of notes) make("p", { class: "note", text }, document.querySelector("header"));
  }

  drawLine() {
    const chart = byId("line");
    const values = this.line.values;
    const accuracy = this.line.of === "accuracy";
    const top = accuracy ? 1000 : Math.max(1, ...values);
    const right = Math.max(1, this.steps - 1);
    const height = (value) => (44 - 40 * Math.sqrt(accuracy ? (value / top) ** 2 : value / top)).toFixed(2);
    chart.setAttribute("viewBox", `0 0 ${right} 44`);
    const points = values.map((value, t) => [t, value]).filter(([, value]) => value !== null);
    if (points.length === 0) return;
    const path = points.map(([t, value]) => `${t} ${height(value)}`).join("L");
    const [from, to] = [points[0][0], points.at(-1)[0]];
    if (accuracy) svg("path", { class: "lost", d: `M${from} 4H${to}V44H${from}Z` }, chart);
    svg("path", { class: "area", d: `M${from} 44L${path}L${to} 44Z` }, chart);
    svg("path", { class: "top", d: `M${path}` }, chart);
    if (this.until !== undefined) svg("path", { class: "until", d: `M${Math.min(this.until, right)} 0V44` }, chart);
  }

  connect() {
    const slider = byId("step");
    slider.max = this.steps - 1;
    slider.addEventListener("input", () => this.go(Number(slider.value)));
    byId("first").addEventListener("click", () => this.go(0));
    byId("back").addEventListener("click", () => this.go(this.t - 1));
    byId("forward").addEventListener("click", () => this.go(this.t + 1));
    byId("last").addEventListener("click", () => this.go(this.steps - 1));
    byId("play").addEventListener("click", () => this.toggle());
    byId("mistake").addEventListener("click", () => this.nextMistake());
    byId("mistake").hidden = !this.line.values.some((value, t) => this.isMistake(t));
    const speeds = byId("speed");
    for (const speed of SPEEDS) make("option", { value: speed, text: `${speed}/s` }, speeds);
    speeds.value = this.speed;
    speeds.addEventListener("change", () => this.setSpeed(Number(speeds.value)));
    this.setSpeed(this.speed);
    document.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.fit()).observe(byId("recordings"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show());
    matchMedia("print").addEventListener("change", () => this.show());
  }

  key(event) {
    const { key } = event;
    const on = (selector) => event.target instanceof Element && event.target.matches(selector);
    if (event.ctrlKey || event.metaKey || event.altKey || on("select")) return;
    if (key === " " && on("button, input[type=checkbox], summary")) return;
    if (key.startsWith("Arrow") && on(".scroll:focus-visible")) return;
    const leap = event.shiftKey ? LEAP : 1;
    const act = {
      " ": () => this.toggle(),
      ArrowRight: () => this.go(this.t + leap),
      ArrowLeft: () => this.go(this.t - leap),
      Home: () => this.go(0),
      End: () => this.go(this.steps - 1),
      m: () => this.nextMistake(),
    }[key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  isMistake(t) {
    const value = this.line.values[t];
    return this.line.of === "accuracy" && value !== null && value < 1000;
  }

  nextMistake() {
    const { length } = this.line.values;
    for (let k = 1; k <= length; k++) {
      const t = (this.t + k) % length;
      if (this.isMistake(t)) return this.go(t);
    }
    return undefined;
  }

  setSpeed(speed) {
    this.speed = speed;
    document.body.classList.toggle("fast", speed >= FAST);
  }

  // A step asked for by hand stops the play.
  go(t) {
    this.stop();
    this.t = Math.min(Math.max(t, 0), this.steps - 1);
    this.show();
  }

  toggle() {
    if (this.playing) return this.stop();
    if (this.t === this.steps - 1) this.t = 0;
    this.playing = true;
    this.due = performance.now();
    this.look();
    return requestAnimationFrame((now) => this.tick(now));
  }

  stop() {
    if (!this.playing) return;
    this.playing = false;
    this.look();
  }

  look() {
    document.body.classList.toggle("playing", this.playing);
    byId("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
    byId("status").setAttribute("aria-live", this.playing ? "off" : "polite");
  }

  tick(now) {
    if (!this.playing) return;
    if (now >= this.due) {
      this.due = Math.max(this.due + 1000 / this.speed, now);
      this.t = Math.min(this.t + 1, this.steps - 1);
      this.show();
      if (this.t === this.steps - 1) return this.stop();
    }
    requestAnimationFrame((later) => this.tick(later));
  }

  fit() {
    const changed = this.sections.flatMap(({ panels }) => panels).map((panel) => panel.fit());
    if (changed.some(Boolean)) this.show();
  }

  show() {
    for (const section of this.sections) section.show(this.t);
    const slider = byId("step");
    slider.value = this.t;
    const value = this.line.values[this.t];
    const known = this.line.of === "accuracy" && Number.isFinite(value);
    const share = known ? `, ${(value / 10).toFixed(1)} % right` : "";
    const text = `Step ${this.t} of ${this.steps - 1}${share}`;
    slider.setAttribute("aria-valuetext", text);
    setText(byId("status"), text);
    document.body.dataset.step = this.t;
  }
}

function trouble(text) {
  byId("trouble").textContent = text;
  byId("trouble").hidden = false;
}

async function main() {
  if (typeof DecompressionStream === "undefined") {
    trouble("This browser is too old to unpack the page's data; any browser since 2023 can.");
    return;
  }
  const header = JSON.parse(byId("header").textContent);
  new Player(header, await readRecordings(header, byId("packed").textContent));
  document.body.dataset.ready = "yes";
}

main().catch((error) => {
  trouble("This page can't be shown: its data is damaged. Make it again.");
  throw error;
});
