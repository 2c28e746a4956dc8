// Every value of a step: single ones, a table over the nodes, maps over pairs of nodes.

// Single values: an index, a number, a flag; the true one and the predicted one.
class Values {
  constructor(host, recording, fields) {
    Object.assign(this, { recording, fields, side: new Side(recording, true) });
    const list = make("dl", { class: "values" }, host);
    this.cells = fields.map((field) => {
      const group = make("div", { class: "value" }, list);
      make("dt", { text: field.name }, group);
      const truth = make("dd", { title: "true" }, group);
      return { truth, guess: field.guess && make("dd", { class: "guess" }, group) };
    });
  }

  show(t) {
    const { names } = this.recording;
    this.fields.forEach((field, k) => {
      const row = Math.min(t, field.steps - 1);
      const { truth, guess } = this.cells[k];
      setText(truth, told(field, field.truth[row], names));
      if (!guess) return;
      const wrong = this.side.wrong(field, t, 0);
      setText(guess, told(field, field.guess[row], names));
      set(guess, "class", `guess${wrong ? " wrong" : ""}`);
      set(guess, "title", `predicted, ${wrong ? "wrong" : "right"}${sureness(field, this.side, t, 0)}`);
    });
  }
}

const sureness = (field, side, t, i) =>
  field.sure ? `, ${Math.round(100 * side.sure(field, t, i))} % sure` : "";

// A row for each field over the nodes, and under it one for what was predicted.
class NodeTable {
  constructor(host, recording, fields, caption) {
    this.recording = recording;
    const box = make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, host);
    const table = make("table", {}, box);
    const head = make("tr", {}, make("thead", {}, table));
    make("th", { scope: "row", text: "node" }, head);
    for (const name of recording.names) make("th", { scope: "col", text: name }, head);
    const body = make("tbody", {}, table);
    this.rows = fields.flatMap((field) => {
      const truth = this.row(body, field, new Side(recording, false), field.guess ? "true" : "");
      return field.guess ? [truth, this.row(body, field, new Side(recording, true), "predicted")] : [truth];
    });
  }

  row(body, field, side, who) {
    const row = make("tr", side.predicted ? { class: "guess" } : {}, body);
    const head = make("th", { scope: "row" }, row);
    make(side.predicted ? "span" : "b", { text: side.predicted ? "" : field.name }, head);
    const note = make("span", { text: who && ` ${who}` }, head);
    const cells = Array.from({ length: field.width }, () => make("td", {}, row));
    return { field, side, note, cells };
  }

  show(t) {
    for (const { field, side, note, cells } of this.rows) {
      const now = side.values(field, t);
      const before = side.values(field, Math.max(0, t - 1));
      cells.forEach((cell, i) => {
        const wrong = side.wrong(field, t, i);
        setText(cell, told(field, now[i], this.recording.names));
        const classes = [];
        if (wrong) classes.push("wrong");
        if (side.predicted && field.sure) classes.push("sure");
        if (now[i] !== before[i] && !Number.isNaN(now[i])) classes.push("changed");
        if (field.kind === "mask" && now[i] === 0) classes.push("zero");
        set(cell, "class", classes.join(" "));
        if (side.predicted && field.sure) cell.style.setProperty("--sure", side.sure(field, t, i).toFixed(2));
      });
      if (side.predicted) setText(note, side.verdict(field, t));
    }
  }
}

// A field over pairs of nodes as a map: the true one and the predicted one.
class PairMap {
  constructor(host, recording, field) {
    Object.assign(this, { recording, field });
    const numbers = Array.from(field.truth).filter((x) => !Number.isNaN(x));
    this.low = numbers.reduce((a, b) => Math.min(a, b), Infinity);
    this.high = numbers.reduce((a, b) => Math.max(a, b), -Infinity);
    this.maps = [false, ...(field.guess ? [true] : [])].map((predicted) => {
      const figure = make("figure", {}, host);
      const canvas = make("canvas", { role: "img" }, figure);
      const caption = make("figcaption", {}, figure);
      make("b", { text: field.name }, caption);
      const note = make("span", {}, caption);
      return { side: new Side(recording, predicted), canvas, note };
    });
    this.build();
  }

  build() {
    const n = this.recording.nodes;
    this.cell = n <= 10 ? 26 : Math.max(3, Math.floor((n <= 24 ? 280 : 384) / n));
    const ratio = window.devicePixelRatio || 1;
    for (const { canvas } of this.maps) {
      canvas.width = canvas.height = n * this.cell * ratio;
      canvas.style.width = `${n * this.cell}px`;
      canvas.getContext("2d").scale(ratio, ratio);
    }
  }

  // How strongly a value is painted, from 0 to 1.
  weight(value) {
    const { kind, classes } = this.field;
    if (kind === "scalar") return (value - this.low) / (this.high - this.low || 1);
    if (kind === "mask") return Math.max(0, value);
    if (kind === "categorical") return (value + 1) / (classes + 1);
    return (value + 1) / (this.recording.nodes + 1);
  }

  show(t) {
    const colours = getComputedStyle(document.documentElement);
    const [ink, truth, wrong] = ["--ink", "--truth", "--wrong"].map((x) => colours.getPropertyValue(x));
    for (const { side, canvas, note } of this.maps) {
      this.paint(canvas.getContext("2d"), side, t, { ink, truth, wrong });
      const who = side.predicted ? side.verdict(this.field, t) : this.field.guess ? "true" : "";
      setText(note, who && ` ${who}`);
      set(canvas, "aria-label", `${this.field.name}, ${who || "a value for each pair of nodes"}`);
    }
  }

  paint(pen, side, t, { ink, truth, wrong }) {
    const { field, cell } = this;
    const n = this.recording.nodes;
    const values = side.values(field, t);
    const texts = cell >= 20 && field.kind !== "mask";
    pen.globalAlpha = 1;
    pen.clearRect(0, 0, n * cell, n * cell);
    pen.font = "10px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (let k = 0; k < values.length; k++) {
      const [x, y] = [(k % n) * cell, Math.floor(k / n) * cell];
      if (Number.isNaN(values[k]) || (field.kind !== "scalar" && values[k] < 0)) continue;
      const strength = Math.min(1, Math.max(0, this.weight(values[k])));
      pen.globalAlpha = (texts ? 0.45 : 0.9) * strength * (0.3 + 0.7 * side.sure(field, t, k));
      pen.fillStyle = truth;
      const flawed = side.wrong(field, t, k);
      if (!flawed || cell > 10) pen.fillRect(x, y, cell - (cell > 6), cell - (cell > 6));
      pen.globalAlpha = 1;
      if (texts) {
        pen.fillStyle = ink;
        pen.fillText(told(field, values[k], this.recording.names), x + cell / 2, y + cell / 2);
      }
      if (flawed) {
        pen.strokeStyle = wrong;
        pen.lineWidth = cell > 10 ? 1.5 : 1.2;
        pen.stroke(new Path2D(cross(x + cell / 2, y + cell / 2, cell / 2 - 0.5)));
      }
    }
  }
}
